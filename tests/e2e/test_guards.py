"""The guards of ./dev check can fail: each is shown something that it must find."""

import os
import subprocess
import sys

from trainyard_server import ROOT

sys.path.insert(0, str(ROOT / "tools"))

import cpp_shape  # noqa: E402
import layers  # noqa: E402
import prose  # noqa: E402
import sizes  # noqa: E402

SOURCE = """
#include "jobs/x.h"
namespace trainyard { namespace {
constexpr char kText[] = R"(} not the end {)";  // nor this: }
struct Row { int a = {}; bool b{false}; };
Row Make(Row row = {}) { return row; }
}  // namespace
Walker::Walker(int depth) : depth_{depth}, rows_(Make()) {
  auto visit = [this](int) {
    return '}';
  };
}
bool Walker::operator()(std::function<void(int)> seen) const noexcept {
  return true;
}
TEST_F(WalkerTest, Ends) {
}
}  // namespace trainyard
"""


def test_functions_and_classes_are_found():
    seen = [(piece.kind, piece.name, piece.lines, piece.member_of) for piece in cpp_shape.measure(SOURCE)]
    assert seen == [("class", "Row", 0, ""), ("function", "Make", 0, ""), ("function", "Walker::Walker", 4, "Walker"),
                    ("function", "Walker::operator()", 2, "Walker"), ("function", "TEST_F(WalkerTest, Ends)", 1, "")]


BAG = """
struct ApiParts {
  Jobs& jobs;
  const Buckets& buckets;  // read only
  std::function<void(int)> posted;
  struct Inner {
    Gate& gate;
  };
  std::move_only_function<Status(
      const Job&, const Trial&)> launched;
  int count = 0;
  Result<int> Count(const Job& job) const;
};
"""


def test_what_a_class_holds_of_others_is_counted():
    assert list(sizes.bags(BAG)) == [("ApiParts", 4), ("Inner", 1)]


def test_figures_of_the_tree_have_limits(monkeypatch):
    tree = sizes.Sizes([])
    tree.files = {"src/net/a.h": 20, "src/net/b.h": 21, "src/net/a_test.cc": 1, "src/cli/c.cc": 400}
    for name, limit in (("DIRECTORY_MAX", 40), ("SMALL_FILES_MAX", 0)):
        monkeypatch.setattr(sizes, name, limit)
    tree.bags = {"src/net/a.h:Parts{}": 9}
    assert list(tree.too_long()) == [("src/net/a.h:Parts{}", 9, 8), ("src/net/", 41, 40), ("src/cli/", 400, 40), ("small-files", 1, 0)]
    assert sizes.is_production("src/net/a.h") and not sizes.is_production("bench/a.h") and not sizes.is_production("src/net/testing/a.h")


def test_a_pure_directory_has_no_effects_and_no_clock():
    for header in ("mutex", "fstream", "unistd.h", "filesystem", "sys/stat.h", "boost/asio/post.hpp"):
        assert list(layers.pure_problems("rules/jobs/x.cc", "", [header])), header
    assert list(layers.pure_problems("rules/jobs/x.cc", "auto now = std::chrono::system_clock::now();", []))
    assert not list(layers.pure_problems("rules/jobs/x.cc", "Time(now)", ["vector", "base/result.h"]))


ALLOWED = layers.Allowed("base:\nrules: base\nnet: base rules\npublic net/http: client.h\n")


def problems_of(path, *headers):
    """What the guard says of one file of src/ with these includes."""
    return layers.Includes(layers.Plan(), ALLOWED, [(path, "", headers, [])]).problems


def test_a_house_includes_only_what_stands_before_it():
    assert problems_of("rules/jobs/x.cc", "net/http/client.h") == [
        'src/rules/jobs/x.cc: includes "net/http/client.h", but src/net/http stands after src/rules/jobs']
    assert problems_of("rules/cluster/x.cc", "rules/jobs/decide.h") == [
        'src/rules/cluster/x.cc: includes "rules/jobs/decide.h", but src/rules/jobs stands after src/rules/cluster']
    assert problems_of("cellar/x.cc", "base/error.h") == ["src/cellar/x.cc: src/CMakeLists.txt does not name its house"]
    assert problems_of("net/access/x.cc", "net/http/client.h", "rules/iam/roles.h", "base/error.h") == []


def test_a_header_of_a_room_is_private_unless_the_list_says_otherwise():
    assert problems_of("net/access/x.cc", "net/http/connection.h") == [
        'src/net/access/x.cc: includes "net/http/connection.h", which is private to src/net/http']
    assert problems_of("net/access/x_test.cc", "net/http/connection.h") == []


def test_arrows_that_are_not_in_the_list_and_too_many_are_found(monkeypatch):
    includes = layers.Includes(layers.Plan(), ALLOWED, [("rules/jobs/x.cc", "", ["base/error.h"], [])])
    monkeypatch.setattr(layers, "ARROWS_MAX", 0)
    said = includes.check()
    assert "1 arrows between houses, the limit is 0" in said
    assert "tools/layers.allowed: nothing in src/net includes src/base any more" in said
    assert "tools/layers.allowed: no other room includes net/http/client.h any more" in said
    assert not any("src/rules: includes src/base" in problem for problem in said)
    stranger = layers.Includes(layers.Plan(), ALLOWED, [("engine/x.cc", "", ["base/error.h"], [])])
    assert "src/engine: includes src/base, which tools/layers.allowed does not name for it" in stranger.check()


def test_what_is_above_the_engine_includes_no_file_of_an_attempt():
    includes = layers.Includes(layers.Plan(), layers.Allowed(""), layers.sources())
    wiring = [problem for problem in includes.problems if "src/server/main.cc" in problem and "attempt" in problem]
    assert wiring == [f'src/server/main.cc: includes "{file}", but what is above src/engine knows no file of an attempt'
                      for file in ("programs/sandbox/network/connect_guard.h", "replica/supervisor/run_replica.h")]


def test_wide_prose_is_found_and_tables_are_not():
    wide = "word " * 30
    assert list(prose.wide_lines(f"{wide}\n| {wide}\n\n    {wide}\n```\n{wide}\n```\n- [a](https://{'x' * 200})\n")) == [(1, len(wide))]


def test_comments_in_our_old_dialect_are_found():
    text = "/// Of one project.\nint a;  // Who asks.\n// A job\n// of whoever asks\nint b;  ///< a sentence\n"
    text += "// What cannot be had is named.\n// See\n// Of\n"
    assert list(prose.clipped_comments(text)) == [(1, "Of one project."), (2, "Who asks."), (6, "What cannot be had is named.")]


def test_a_page_that_names_a_file_which_is_gone_is_found(tmp_path):
    room = tmp_path / "src/net/http"
    room.mkdir(parents=True)
    for file in ("server.h", "server_test.cc"):
        (room / file).touch()
    page = room / "README.md"
    page.write_text("`server.h` `net/http/server.h` `src/net/http` `server.h::Serve` `other.txt`\n`gone.h` `src/net/*/*_test.cc`\n"
                    "`src/net/gone` x `tests/gone.py --update` `*_gone.cc` gone.h\n")
    assert list(prose.missing_files(page, tmp_path)) == [(2, "gone.h"), (3, "src/net/gone"), (3, "tests/gone.py"), (3, "*_gone.cc")]


def test_tests_that_a_page_names_and_that_are_not_there_are_found(tmp_path):
    room = tmp_path / "src/net"
    room.mkdir(parents=True)
    (tmp_path / "tests/e2e").mkdir(parents=True)
    (tmp_path / "tests/e2e/test_a.py").write_text("def test_one(server):\n    pass\n")
    (room / "b_test.cc").write_text("TEST(Door, Opens) {}\n")
    page = tmp_path / "pages.md"
    page.write_text("`test_a.py::test_one` `b_test.cc::Door.Opens`\n`test_a.py::test_on` `b_test.cc::Door.Shuts` `c_test.cc::Door.Opens`\n")
    assert list(prose.missing_tests(page, tmp_path)) == [
        (2, "test_a.py::test_on"), (2, "b_test.cc::Door.Shuts"), (2, "c_test.cc::Door.Opens")]


def test_a_mutation_whose_code_has_changed_is_named(tmp_path):
    known, changed = tmp_path / "known.toml", tmp_path / "changed.toml"
    entry = '[[mutation]]\nname = "m"\nfault = "f"\nfile = "src/base/README.md"\nold = "{}"\nnew = "n"\ncatchers = ["tests jobs"]\n'
    known.write_text(entry.format((ROOT / "src/base/README.md").read_text().splitlines()[0]))
    changed.write_text(entry.format("no such text"))
    check = [sys.executable, str(ROOT / "tests/mutations/run.py"), "--check", "--list"]
    assert subprocess.run([*check, known]).returncode == 0
    refused = subprocess.run([*check, changed], capture_output=True, text=True)
    assert refused.returncode == 1
    assert refused.stdout == "m: its old text is 0 times in src/base/README.md, and has to be there once: adapt it to the new code\n"


def test_a_benchmark_that_is_none_is_refused_before_anything_is_built():
    run = subprocess.run([sys.executable, ROOT / "bench/run.py", "--build", "none", "--check-names", "jobs", "tunnig"],
                         capture_output=True, text=True)
    assert run.returncode == 2
    assert "there is no benchmark 'tunnig'; there are: tuning tuning_trials " in run.stderr


def test_a_failed_test_says_why_at_once(tmp_path):
    (tmp_path / "test_two.py").write_text("def test_first():\n    assert False, 'the reason'\n\ndef test_second():\n    pass\n")
    words = [sys.executable, "-m", "pytest", "-p", "failures_at_once", "-q", "-n", "2", "--basetemp", tmp_path / "base", tmp_path / "test_two.py"]
    variables = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    done = subprocess.run(words, cwd=tmp_path, env=variables | {"PYTHONPATH": str(ROOT / "tests/e2e")}, capture_output=True, text=True)
    at_once, summary = done.stdout.split("= FAILURES =")
    assert done.returncode == 1 and "the reason" in summary
    assert "call of test_two.py::test_first failed (" in at_once and "GiB of disk free): AssertionError: the reason" in at_once, at_once
