"""What the user can mend is one line of text, without a traceback; a trainer that is told to stop."""

import atexit
import errno
import logging
import os
import signal
import sys
import warnings
from collections.abc import Callable
from types import SimpleNamespace


class UserError(Exception):
    """Something that the user can mend. str(e) is one or two sentences that name the file, row, column or
    argument."""


class Stopped(Exception):
    """The trainer was told to stop, has written what it can, and is not done: a replica that starts again
    goes on."""


_told_to_stop = False  # set by a signal's handler, so in the main thread only
_ends_by_signal = False


def stopping() -> bool:
    """Whether this process was told to end: a tuner that ends a trial early, or a user that cancels a job,
    sends SIGTERM and gives 30 seconds.

    A training loop asks after each step or round, and once it is true ends as if the last step were done:
    it evaluates once at most, writes the model and returns, so that a trial that was ended early has a
    model. Always false in a trainer that was not started by run()."""
    return _told_to_stop


def leave_if_told() -> None:
    """For what comes before training and may take longer than the 30 seconds. @raises Stopped: stopping()"""
    if _told_to_stop:
        raise Stopped


def listen() -> None:
    """From now on the first SIGTERM only makes stopping() true; a second one ends the process at once."""
    signal.signal(signal.SIGTERM, _stop)


def listen_in_loop(act: Callable[[], None]) -> None:
    """listen() of a program of asyncio: the running loop calls `act` as well. A SIGTERM that came before
    counts."""
    import asyncio

    def told() -> None:
        _stop(signal.SIGTERM, None)
        act()

    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, told)
    if stopping():
        act()


def _stop(number: int, frame: object) -> None:
    global _told_to_stop  # noqa: PLW0603
    _told_to_stop = True
    signal.signal(number, signal.SIG_DFL)


def run(name: str, main: Callable[[SimpleNamespace], None]) -> None:
    """Runs the trainer `main` with this process's arguments, checked by tables/NAME.json.

    A UserError, a lack of memory and a full disk end the process with status 1 and that text as the last
    line of stderr; any other exception keeps its traceback. SIGTERM: see stopping(). A trainer that was told
    to stop ends by SIGTERM, as one that does not handle it: status 0 would mean that all is done, and the
    service would not start it again after its machine's maintenance."""
    from trainyard_algorithms import arguments

    global _ends_by_signal  # noqa: PLW0603
    atexit.register(_end_by_signal)  # the first to be registered, so the last to be called
    start_log()
    listen()
    try:
        main(arguments.parse(name, sys.argv[1:]))
        _ends_by_signal = stopping()
    except Stopped:
        _ends_by_signal = True
    except UserError as error:
        end(str(error))
    except MemoryError as error:
        what = f" ({error})" if str(error) else ""
        end(f"Not enough memory{what}: use a machine type with more, or less data.")
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        end(f"The disk is full{f' while writing {error.filename}' if error.filename else ''}.")
    except Exception as error:
        text = out_of_memory(error)
        if not text:
            raise
        end(text)


def out_of_memory(error: Exception) -> str:
    """What to say if a library's exception means a lack of memory (pyarrow's is a MemoryError already),
    else ''."""
    if type(error).__name__ == "ResourceExhaustedError":  # TensorFlow's, of RAM or of a GPU
        return (
            f"Not enough memory for a step ({str(error).splitlines()[0][:200]}): use a smaller --batch_size."
        )
    if "bad_alloc" in str(error):  # XGBoost's
        return "Not enough memory: use a machine type with more, or less data."
    return ""


def _end_by_signal() -> None:
    if _ends_by_signal:
        logging.shutdown()
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTERM)


def start_log() -> None:
    """The log of these modules from INFO on; a handler that is there (a replica has one) stays."""
    logging.basicConfig(format="%(levelname)s %(message)s", stream=sys.stderr)
    logging.captureWarnings(True)  # a library's that has several lines is one entry
    logging.getLogger("trainyard_algorithms").setLevel(logging.INFO)
    logging.getLogger("__main__").setLevel(logging.INFO)
    warnings.filterwarnings("ignore", category=FutureWarning, module="google")  # about Python versions


def end(text: str) -> None:
    """Ends the process with status 1 and `text` as stderr's last line."""
    logging.shutdown()
    sys.stdout.flush()
    print(text, file=sys.stderr, flush=True)
    sys.exit(1)
