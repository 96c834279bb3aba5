"""What every room uses: checks, files, tables, words for people."""
