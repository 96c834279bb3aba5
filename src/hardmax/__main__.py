"""`python -m hardmax` is the command `hardmax`."""

from hardmax.cli.main import start

if __name__ == "__main__":
    start()
