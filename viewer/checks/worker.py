"""Process that checks scenes: it gets a request with files and options, and replies with a report for each file."""

from ..processes import Job, run_job
from .check import check_file
from .settings import CheckOptions


def _work(job: Job) -> None:
    """Reply with the report of each file of the request, in their order."""
    options = CheckOptions.from_json(job.request["options"])
    for file in job.request["files"]:
        job.reply(check_file(file, options).to_json())


if __name__ == "__main__":
    run_job(_work)
