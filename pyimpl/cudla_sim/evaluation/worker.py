"""The program of a worker process, which ``local`` starts.

The network comes first, then batches; the answer to a batch is its rows or an EvaluationError. It
ends when its input does.
"""

from __future__ import annotations

import os
import sys

from . import score
from .errors import EvaluationError
from .pipes import receive, send
from .runner import Runner


def main() -> None:
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what is printed must not mix with answers
    questions = sys.stdin.buffer
    try:
        runner = Runner(receive(questions))
        while True:
            batch = receive(questions)
            try:
                send(answers, score.run(runner, batch))
            except EvaluationError as error:
                send(answers, error)
    except (EOFError, BrokenPipeError):
        os._exit(0)


if __name__ == "__main__":
    main()
