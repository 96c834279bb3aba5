"""What commands print: a summary for people, a document for programs."""
