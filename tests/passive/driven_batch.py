"""The program of a batch's window with a test that drives it."""

import os
import sys

from contact_viewer.passive.batch_process import main

from tests.passive.driven_window import run

if __name__ == "__main__":
    code = main(sys.argv[1:], run)
    sys.stdout.flush()
    os._exit(code)
