"""The command `hardmax`: one small file a command, each parses, calls one function, prints.

Nothing here imports numpy when it is imported, so that `hardmax --help` answers at once.
"""
