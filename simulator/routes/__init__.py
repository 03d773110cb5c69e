"""The API's operations, one file per family; `operations` lists them all."""
