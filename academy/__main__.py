"""`python -m academy` is the command `academy`."""

from academy.cli import main

if __name__ == "__main__":
    main()
