"""What a repository may set (`schema`), how it is read (`load`), and what only an operator may set (`settings`)."""
