"""`python -m hardmax` is the command `hardmax`."""

from hardmax.cli.main import run

if __name__ == "__main__":
    run()
