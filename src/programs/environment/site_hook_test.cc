#include "programs/environment/site_hook.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <fstream>

#include "base/async/file.h"
#include "base/async/unique_fd.h"
#include "programs/environment/package_files_for_test.h"
#include "programs/environment/temporary_folder_for_test.h"

namespace trainyard::environment {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

/// What a Python program with the hook did.
struct Ran {
  int exit_code = 0;
  std::vector<std::string> output;   ///< stdout and stderr
  std::vector<std::string> records;  ///< SEVERITY: MESSAGE
  std::vector<boost::json::object> full_records;
};

class SiteHook : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(InstallSiteHook(folder_.path())); }

  Ran Run(const std::string& program, std::map<std::string, std::optional<std::string>> variables = {}) {
    int ends[2];
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    const UniqueFd read(ends[0]);
    UniqueFd write(ends[1]);
    EXPECT_GT(::fcntl(read.get(), F_SETPIPE_SZ, 1 << 20),
              0);  // large enough for everything, since it is read afterwards
    variables.try_emplace("PYTHONPATH", (folder_.path() / "site").string());
    variables.try_emplace("TRAINYARD_LOG_FD", std::to_string(write.get()));
    ToolCommand command{{kSystemPython, "-c", program}, std::move(variables), write.get()};
    const auto end = RunTool(command, {}, {}, {});
    EXPECT_TRUE(end);
    write.Reset();
    Ran ran{end->exit_code, end->tail, {}, {}};
    std::string text(1 << 20, '\0');
    const ssize_t count = ::read(read.get(), text.data(), text.size());
    text.resize(count < 0 ? 0 : static_cast<std::size_t>(count));
    for (std::size_t begin = 0, newline; (newline = text.find('\n', begin)) != std::string::npos;
         begin = newline + 1) {
      const auto record = boost::json::parse(text.substr(begin, newline - begin)).as_object();
      ran.records.push_back(std::string(record.at("severity").as_string()) + ": " +
                            std::string(record.at("message").as_string()));
      ran.full_records.push_back(record);
    }
    return ran;
  }

  TemporaryFolder folder_;
};

TEST_F(SiteHook, IsInstalledOnceAndRepaired) {
  const fs::path file = folder_.path() / "site/sitecustomize.py";
  EXPECT_EQ(ReadText(file), EmbeddedSiteCustomize());
  const auto written = fs::last_write_time(file);
  ASSERT_TRUE(InstallSiteHook(folder_.path()));
  EXPECT_EQ(fs::last_write_time(file), written);
  WriteText(file, "broken");
  ASSERT_TRUE(InstallSiteHook(folder_.path()));
  EXPECT_EQ(ReadText(file), EmbeddedSiteCustomize());
}

TEST_F(SiteHook, RecordsHaveTheOriginalsMembers) {
  const Ran ran = Run("import logging\nlogging.getLogger('a.b').warning('x %d', 1)");
  EXPECT_THAT(ran.records, ElementsAre("WARNING: x 1"));
  std::vector<std::string> names;
  for (const auto& [name, value] : ran.full_records.at(0)) names.emplace_back(name);
  EXPECT_THAT(names, ElementsAre("severity", "message", "created", "levelname", "pathname", "lineno",
                                 "thread", "timestampSeconds", "timestampNanos"));
  EXPECT_EQ(ran.full_records[0].at("lineno"), 2);
  EXPECT_THAT(ran.output, IsEmpty());
}

struct Row {
  const char* name;
  const char* program;
  std::vector<std::string> records;
  std::vector<std::string> output;
  std::map<std::string, std::optional<std::string>> variables{};
};
class SiteHookProgram : public SiteHook, public testing::WithParamInterface<Row> {};
TEST_P(SiteHookProgram, Logs) {
  const Ran ran = Run(GetParam().program, GetParam().variables);
  EXPECT_EQ(ran.records, GetParam().records);
  EXPECT_EQ(ran.output, GetParam().output);
  EXPECT_EQ(ran.exit_code, 0);
}
constexpr const char* kAllLevels =
    "import logging\nfor l in (10, 15, 20, 30, 40, 50): logging.log(l, '%d', l)";
INSTANTIATE_TEST_SUITE_P(
    Programs, SiteHookProgram,
    testing::Values(
        Row{"info_by_default", kAllLevels, {"INFO: 20", "WARNING: 30", "ERROR: 40", "CRITICAL: 50"}, {}},
        Row{"level_from_the_environment",
            kAllLevels,
            {"ERROR: 40", "CRITICAL: 50"},
            {},
            {{"CLOUD_ML_LOG_LEVEL", "ERROR"}}},
        Row{"debug_from_the_environment",
            kAllLevels,
            {"DEBUG: 10", "DEBUG: 15", "INFO: 20", "WARNING: 30", "ERROR: 40", "CRITICAL: 50"},
            {},
            {{"CLOUD_ML_LOG_LEVEL", "DEBUG"}}},
        Row{"basic_config_sets_the_level",
            "import logging\nlogging.basicConfig(level=logging.WARNING, "
            "format='%(asctime)s')\nlogging.info('no')\nlogging.warning('yes')",
            {"WARNING: yes"},
            {}},
        Row{"basic_config_to_stdout_is_not_doubled",
            "import logging, sys\nlogging.basicConfig(stream=sys.stdout, level='DEBUG', "
            "force=True)\nlogging.debug('once')",
            {"DEBUG: once"},
            {}},
        Row{"basic_config_to_a_file_writes_it",
            "import logging, tempfile\nf = tempfile.mktemp()\nlogging.basicConfig(filename=f, "
            "format='%(message)s')\n"
            "logging.warning('both')\nprint(open(f).read().strip())",
            {"WARNING: both"},
            {"both"}},
        Row{"basic_config_with_handlers",
            "import logging, sys\nlogging.basicConfig(handlers=[logging.StreamHandler(sys.stdout)], "
            "format='%(message)s')\nlogging.warning('both')",
            {"WARNING: both"},
            {"both"}},
        Row{"basic_config_complains_as_ever",
            "import logging\ntry: logging.basicConfig(nonsense=1)\nexcept ValueError as e: print(e)",
            {},
            {"Unrecognised argument(s): nonsense"}},
        Row{"dict_config_replaces_the_handler",
            "import logging.config\nlogging.config.dictConfig({'version': 1, 'handlers': {'h': {'class': "
            "'logging.StreamHandler', "
            "'stream': 'ext://sys.stdout'}}, 'root': {'handlers': ['h'], 'level': "
            "'INFO'}})\nlogging.info('theirs')",
            {},
            {"theirs"}},
        Row{"exception_text",
            "import logging\ntry: 1/0\nexcept Exception: logging.exception('caught')",
            {"ERROR: caught\nTraceback (most recent call last):\n  File \"<string>\", line 2, in "
             "<module>\nZeroDivisionError: division by zero"},
            {}},
        Row{"bad_arguments_do_not_end_the_program",
            "import logging, sys\nsys.stderr = None\nlogging.warning('%d', 'x')\nprint('on')",
            {},
            {"on"}},
        Row{"text_beyond_ascii",
            "import logging\nlogging.warning('h\\u00e9 \\ud800 %s', '\\u4e2d')",
            {"WARNING: h\u00e9 ? \u4e2d"},
            {}},
        Row{"forked_children",
            "import logging, os\npid = os.fork()\nif not pid: logging.warning('child'); os._exit(0)\n"
            "os.waitpid(pid, 0)\nlogging.warning('parent')",
            {"WARNING: child", "WARNING: parent"},
            {}},
        Row{"multiprocessing_fork",
            "import logging, multiprocessing as m\nc = m.get_context('fork')\n"
            "p = c.Process(target=logging.warning, args=('child',)); p.start(); p.join(); print(p.exitcode)",
            {"WARNING: child"},
            {"0"}},
        Row{"subprocess_without_the_descriptor",
            "import subprocess, sys\nsubprocess.run([sys.executable, '-c', \"import logging; "
            "logging.info('no'); logging.warning('plain')\"])",
            {},
            {"WARNING:root:plain"}},
        Row{"closed_descriptor_goes_to_stderr",
            "import logging, os\nos.closerange(3, 100)\nlogging.warning('x')",
            {},
            {"WARNING:root:x"}},
        Row{"reused_descriptor_is_left_alone",
            "import logging, os, sys, tempfile\nos.closerange(3, 100)\nf = [tempfile.TemporaryFile() for _ "
            "in "
            "range(60)]\n"
            "logging.warning('x')\nprint(sum(os.fstat(x.fileno()).st_size for x in f), file=sys.stderr)",
            {},
            {"WARNING:root:x", "0"}},
        Row{"no_logging_no_cost",
            "import sys\nprint('logging' in sys.modules, 'json' in sys.modules)",
            {},
            {"False False"}},
        Row{"without_the_variable",
            "import logging\nprint(logging.root.handlers)",
            {},
            {"[]"},
            {{"TRAINYARD_LOG_FD", std::nullopt}}},
        Row{"nonsense_in_the_variable",
            "import logging\nprint(logging.root.handlers)",
            {},
            {"[]"},
            {{"TRAINYARD_LOG_FD", "x"}}},
        Row{"descriptor_that_is_no_pipe",
            "import logging\nprint(logging.root.handlers)",
            {},
            {"[]"},
            {{"TRAINYARD_LOG_FD", "0"}}},
        Row{"destructors_that_log_after_the_end",
            "import builtins, logging\nclass Session:\n"
            "  def __del__(self, log=logging.getLogger('tensorflow').warning): log('closing %d', 1)\n"
            "builtins.session = Session(); builtins.session.itself = builtins.session",
            {"WARNING: closing 1"},
            {}},
        Row{"destructors_without_a_pipe",
            "import builtins, logging, os\nclass Session:\n"
            "  def __del__(self, log=logging.warning): log('closing')\n"
            "builtins.session = Session(); builtins.session.itself = builtins.session\n"
            "os.closerange(3, 100)",
            {},
            {"WARNING:root:closing"}},
        Row{"a_pipe_that_does_not_wait",
            "import logging, os, threading, time\nfd = int(os.environ['TRAINYARD_LOG_FD'])\n"
            "r, w = os.pipe(); os.dup2(w, fd); os.close(w)\nos.environ['TRAINYARD_LOG_FD'] = str(fd)\n"
            "import importlib, sitecustomize; logging.root.handlers.clear()\n"
            "importlib.reload(sitecustomize); os.set_blocking(fd, False)\n"
            "threading.Timer(0, lambda: [logging.info('x' * 1000) for _ in range(200)] and "
            "(logging.root.handlers.clear(), os.close(fd))).start()\n"
            "print(sum(line.endswith('}\\n') for line in open(r)))",
            {},
            {"200"}},
        Row{"members_that_json_has_no_form_for",
            "import logging\nr = logging.LogRecord('n', 30, None, 3, 'x', None, None); r.created = 1.0\n"
            "r.lineno = None; r.thread = float('inf'); logging.root.handle(r)",
            {"WARNING: x"},
            {}},
        Row{"interrupts_look_as_ever",
            "import sys\nsys.excepthook(KeyboardInterrupt, KeyboardInterrupt(), None)",
            {},
            {"KeyboardInterrupt"}}),
    [](const auto& row) { return row.param.name; });

TEST_F(SiteHook, AnUncaughtExceptionIsOneRecordAndExitsWithOne) {
  const Ran ran = Run("def f(): raise ValueError('boom')\nf()");
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(ran.output, IsEmpty());
  EXPECT_THAT(ran.records,
              ElementsAre(testing::AllOf(StartsWith("ERROR: Traceback (most recent call last):\n"),
                                         HasSubstr("in f\n"), testing::EndsWith("ValueError: boom"))));
  EXPECT_EQ(ran.full_records[0].at("lineno"), 1);
}

TEST_F(SiteHook, AnExceptionThatCannotBePassedOnIsPrinted) {
  const Ran ran = Run("import os\nos.closerange(3, 100)\nraise ValueError('boom')");
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(ran.output, testing::Contains("ValueError: boom"));
}

TEST_F(SiteHook, RunsTheSitecustomizeThatItHides) {
  WriteText(folder_.path() / "theirs/sitecustomize.py", "print('theirs', __name__)\n");
  const std::string path = (folder_.path() / "site").string() + ":" + (folder_.path() / "theirs").string();
  for (const char* descriptor : {"nonsense", "0"})
    EXPECT_THAT(Run("", {{"PYTHONPATH", path}, {"TRAINYARD_LOG_FD", descriptor}}).output,
                ElementsAre("theirs sitecustomize"));
}

/// The modules of a TensorFlow that the hook changes, and one that copies names out of them, as its API does.
void WriteTensorFlow(const fs::path& top) {
  const fs::path python = top / "tensorflow/python";
  for (const char* package : {"", "tpu", "training", "distribute", "distribute/cluster_resolver"})
    WriteText(python / package / "__init__.py", "");
  WriteText(python / "training/server_lib.py", "class ClusterSpec(dict): pass\n");
  WriteText(python / "tpu/topology.py",
            "def Topology(mesh_shape, device_coordinates):\n"
            "    if len(mesh_shape) != 3: raise ValueError\n"
            "    return mesh_shape\n");
  WriteText(python / "tpu/tpu_strategy_util.py",
            "from tensorflow.python.tpu import topology\n"
            "def initialize_tpu_system(resolver): raise SystemExit('no TPU')\n");
  WriteText(python / "distribute/one_device_strategy.py",
            "class OneDeviceStrategy:\n"
            "    def __init__(self, device): self.device = device\n"
            "OneDeviceStrategyV1 = OneDeviceStrategy\n");
  WriteText(python / "distribute/tpu_strategy.py",
            "class TPUStrategy:\n"
            "    def __init__(self, *_): raise SystemExit('no TPU')\n");
  WriteText(python / "distribute/cluster_resolver/tpu_cluster_resolver.py",
            "import tensorflow.python.training.server_lib\n"
            "class TPUClusterResolver:\n"
            "    def __init__(self): raise SystemExit('no TPU')\n"
            "    def master(self): return 'grpc://'\n");
  WriteText(
      top / "tensorflow/__init__.py",
      "from tensorflow.python.distribute.cluster_resolver.tpu_cluster_resolver import TPUClusterResolver\n"
      "from tensorflow.python.tpu.tpu_strategy_util import initialize_tpu_system\n"
      "from tensorflow.python.distribute.tpu_strategy import TPUStrategy\n");
}

TEST_F(SiteHook, TheCpuTakesTheTpusPlaceWhereItIsChosen) {
  WriteTensorFlow(folder_.path() / "packages");
  const std::string path = (folder_.path() / "site").string() + ":" + (folder_.path() / "packages").string();
  constexpr const char* kProgram =
      "import tensorflow as tf\n"
      "resolver = tf.TPUClusterResolver()\n"
      "print(repr(resolver.master()), tf.initialize_tpu_system(resolver))\n"
      "strategies = tf.TPUStrategy(resolver), tf.TPUStrategy(tpu_cluster_resolver=resolver)\n"
      "print(strategies[0].device, strategies[0].cluster_resolver is resolver)\n"
      "print(any(kind.__name__.startswith('TPUStrategy') for kind in type(strategies[0]).__mro__))\n";
  const Ran ran = Run(kProgram, {{"PYTHONPATH", path}, {"TRAINYARD_TPU_AS_CPU", "1"}});
  EXPECT_THAT(ran.output, ElementsAre("'' [1, 1, 1]", "/device:CPU:0 True", "False"));
  EXPECT_THAT(ran.records,
              ElementsAre(StartsWith("WARNING: This program trains on the CPU in the place of the TPU")));
  const Ran without = Run(kProgram, {{"PYTHONPATH", path}});
  EXPECT_THAT(without.output, ElementsAre("no TPU"));
}

TEST_F(SiteHook, AJobLogsNumbersWithoutInstallingAnything) {
  const fs::path file = folder_.path() / "hypertune/output.metrics";
  const std::string site = (folder_.path() / "site").string();
  const char* program = "import trainyard\ntrainyard.log(step=1, loss=0.5)";
  EXPECT_EQ(Run(program, {{"PYTHONPATH", site}, {"CLOUD_ML_HP_METRIC_FILE", file.string()}}).exit_code, 0);
  EXPECT_THAT(ReadText(file), HasSubstr(R"("loss": "0.5", "global_step": "1")"));
  WriteText(folder_.path() / "client/trainyard/__init__.py", "print('the client')\n");
  const std::string path = site + ":" + (folder_.path() / "client").string();
  EXPECT_THAT(Run("import trainyard", {{"PYTHONPATH", path}}).output, ElementsAre("the client"));
}

/// What keeps the start cheap (1 ms measured, the budget is 2): nothing is imported that would not be there
/// anyway, except atexit, which is a part of the interpreter.
TEST_F(SiteHook, ImportsNothingAtStart) {
  constexpr const char* kModules = "import sys; print(*sorted(set(sys.modules) - {'atexit'}))";
  const std::vector<std::string> plain = Run(kModules, {{"PYTHONPATH", std::nullopt}}).output;
  EXPECT_THAT(plain, ElementsAre(HasSubstr(" os ")));
  EXPECT_EQ(Run(kModules).output, plain);
}

/// For warm interpreters: two levels of what the program imported from the runtime, not its own modules.
TEST_F(SiteHook, NotesTheImportedModules) {
  const std::string tmp = folder_.path().string();
  std::ofstream(folder_.path() / "own_module.py") << "import xml.dom.minidom\n";
  Run("import sys; sys.path.insert(0, '" + tmp + "'); import own_module", {{"TMPDIR", tmp}});
  const std::string note = ReadFile(tmp + "/.trainyard-modules").value_or("");
  EXPECT_THAT(note, HasSubstr("\nxml\nxml.dom\n"));
  EXPECT_THAT(note, testing::Not(HasSubstr("xml.dom.minidom")));
  EXPECT_THAT(note, testing::Not(HasSubstr("own_module")));
}

}  // namespace
}  // namespace trainyard::environment
