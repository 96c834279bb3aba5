"""The command `hardmax`: `main` starts it, every command has a file of its own."""
