"""Eight colleagues at once on one server, each in a project of its own: nobody sees a name of another's project, whatever is asked, streamed,
logged, tuned or looked at from inside of a job. --long: ten minutes."""

import os
import threading
import time
import traceback

from team import Colleague, Times

NAMES = ["amberly", "birchwood", "cedarville", "dunefield", "fjordland", "heathrow", "juniperus", "larkspur"]
SECONDS = 600 if os.environ.get("TRAINYARD_LONG") else 0  # one round at least
TUNED_EVERY = 4  # rounds


def test_nobody_sees_anothers_names(make_server, packages):
    server = make_server("--auth", "on", "--accelerators", "nvidia-tesla-t4=2")
    times, failures = Times(), []
    team = [Colleague(server, name, [other for other in NAMES if other != name], times) for name in NAMES]
    for colleague in team:
        colleague.settle(packages)
    end = time.monotonic() + SECONDS
    rounds = dict.fromkeys(NAMES, 0)

    def work(colleague):
        try:
            while not failures and (rounds[colleague.name] == 0 or time.monotonic() < end):
                colleague.round(rounds[colleague.name], is_tuned=rounds[colleague.name] % TUNED_EVERY == 0)
                rounds[colleague.name] += 1
        except Exception:
            failures.append(traceback.format_exc())

    begin = time.monotonic()
    threads = [threading.Thread(target=work, args=(colleague,)) for colleague in team]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(f"{sum(rounds.values())} rounds of {len(team)} colleagues in {time.monotonic() - begin:.1f} s, "
          f"{sum(colleague.answers for colleague in team)} texts looked through\n{times.table()}")
    assert not failures, failures[0] + server.stderr()[-2000:]
    assert server.process.poll() is None
    # The administrator sees all of them: the names would have been found.
    usage = server.request("GET", "/v1/projects").text
    assert all(name in usage for name in NAMES)
