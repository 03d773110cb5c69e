"""The diff → five answers for each file → `max_gate`. Pure: trees and bytes come in, an `Assessment` goes out."""
