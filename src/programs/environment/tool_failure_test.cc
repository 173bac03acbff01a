#include "programs/environment/tool_failure.h"

#include <gtest/gtest.h>

namespace trainyard::environment::tool_failure_test {
namespace {

struct Row {
  const char* name;
  const char* tool;
  std::vector<std::string> lines;
  Error expected;
};
class Explain : public testing::TestWithParam<Row> {};
TEST_P(Explain, SaysWhy) {
  EXPECT_EQ(ExplainFailure(GetParam().tool, {1, 0, GetParam().lines}), GetParam().expected);
}
INSTANTIATE_TEST_SUITE_P(
    Output, Explain,
    testing::Values(
        Row{"missing",
            "pip",
            {"Processing ./a.tar.gz",
             "ERROR: Could not find a version that satisfies the requirement nosuchpkg (from versions: none)",
             "ERROR: No matching distribution found for nosuchpkg"},
            FailedPrecondition("pip: No matching distribution found for nosuchpkg")},
        Row{"conflict",
            "pip",
            {"ERROR: Cannot install idna==2.10 because these package versions have conflicting dependencies.",
             "", "The conflict is caused by:", "    The user requested idna==2.10",
             "    requests 2.32.3 depends on idna<4 and >=2.5", "    The user requested (constraint) idna>3",
             "", "To fix this you could try to:", "1. loosen the range of package versions you've specified"},
            FailedPrecondition("pip: requirements contradict each other: idna==2.10; requests 2.32.3 depends "
                               "on idna<4 and >=2.5; idna>3")},
        Row{"no_network",
            "pip",
            {"WARNING: Retrying (Retry(total=0, connect=None)) after connection broken by "
             "'NewConnectionError("
             "'<pip._vendor.urllib3.connection.HTTPSConnection object at 0x7f>: Failed to establish a new "
             "connection: "
             "[Errno -3] Temporary failure in name resolution')': /simple/six/",
             "ERROR: Could not find a version that satisfies the requirement six (from versions: none)",
             "ERROR: No matching distribution found for six"},
            Unavailable("pip: Could not reach the package index (Temporary failure in name resolution)")},
        Row{"uv_download_cut",
            "uv",
            {"error: Failed to download `demo-one==1.0`", "  cause: error decoding response body",
             "  cause: error reading a body from connection",
             "  cause: end of file before message length reached"},
            Unavailable(
                "uv: The download of demo-one==1.0 is incomplete or damaged (end of file before message "
                "length reached); try again")},
        Row{"pip_download_cut",
            "pip",
            {"Collecting demo-one==1.0",
             "  Downloading http://127.0.0.1:9/files/demo_one-1.0-py3-none-any.whl (201 kB)",
             "ERROR: Wheel 'demo-one' located at /tmp/demo_one-1.0-py3-none-any.whl is invalid."},
            Unavailable("pip: The download of demo_one-1.0-py3-none-any.whl is incomplete or damaged (Wheel "
                        "'demo-one' located at /tmp/demo_one-1.0-py3-none-any.whl is invalid); try again")},
        Row{"users_own_wheel",
            "pip",
            {"Processing ./a-1.0-py3-none-any.whl",
             "ERROR: Wheel 'a' located at /a-1.0-py3-none-any.whl is invalid."},
            FailedPrecondition("pip: Wheel 'a' located at /a-1.0-py3-none-any.whl is invalid")},
        Row{"disk_full",
            "pip",
            {"Installing collected packages: a",
             "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device"},
            Error{Code::kResourceExhausted, "pip: No space left on device", {}}},
        Row{"not_an_archive",
            "pip",
            {"Processing ./a.tar.gz", "ERROR: Exception:", "Traceback (most recent call last):",
             "  File \"x\", line 1", "tarfile.ReadError: not a gzip file"},
            FailedPrecondition("pip: tarfile.ReadError: not a gzip file")},
        Row{"setup_fails",
            "pip",
            {"  error: subprocess-exited-with-error",
             "  × python setup.py egg_info did not run successfully.", "  │ exit code: 1",
             "  ╰─> [6 lines of output]",
             "      Traceback (most recent call last):", "        File \"setup.py\", line 1, in <module>",
             "      ModuleNotFoundError: No module named 'torch'", "      [end of output]",
             "  note: This error originates from a subprocess, and is likely not a problem with pip.",
             "error: metadata-generation-failed", "× Encountered error while generating package metadata."},
            FailedPrecondition(
                "pip: the package cannot be built: ModuleNotFoundError: No module named 'torch'")},
        Row{"older_pip",
            "pip",
            {"  error: subprocess-exited-with-error", "  ╰─> [6 lines of output]", "      KeyError: 'x'",
             "error: metadata-generation-failed", "╰─> See above for output.",
             "╰─> from file:///d/in/0/a-1.0.tar.gz"},
            FailedPrecondition("pip: the package cannot be built: KeyError: 'x'")},
        Row{"requirement_fails",
            "pip",
            {"Collecting numpy==1.16.4", "  error: subprocess-exited-with-error",
             "  × Preparing metadata (pyproject.toml) did not run successfully.",
             "  ╰─> [23 lines of output]", "      NameError: name 'CCompiler' is not defined",
             "      [end of output]", "error: metadata-generation-failed",
             "× Encountered error while generating package metadata.", "╰─> numpy",
             "note: This is an issue with the package mentioned above, not pip."},
            FailedPrecondition(
                "pip: the package numpy cannot be built: NameError: name 'CCompiler' is not defined")},
        Row{"requirement_fails_at_once",
            "pip",
            {"  error: subprocess-exited-with-error", "      AttributeError: no cython_sources",
             "ERROR: Failed to build 'PyYAML' when getting requirements to build wheel"},
            FailedPrecondition("pip: the package PyYAML cannot be built: AttributeError: no cython_sources")},
        Row{"wheel_fails",
            "pip",
            {"  error: subprocess-exited-with-error", "      RuntimeError: no compiler",
             "  ERROR: Failed building wheel for needs-figlet", "Failed to build needs-figlet",
             "╰─> needs-figlet"},
            FailedPrecondition("pip: the package needs-figlet cannot be built: RuntimeError: no compiler")},
        Row{"uv_missing",
            "uv",
            {"  × No solution found when resolving dependencies:",
             "  ╰─▶ Because nosuchpkg was not found in the package registry and you require nosuchpkg, we "
             "can conclude "
             "that your requirements are unsatisfiable."},
            FailedPrecondition(
                "uv: Because nosuchpkg was not found in the package registry and you require nosuchpkg, "
                "we can conclude that your requirements are unsatisfiable")},
        Row{"uv_no_network",
            "uv",
            {"error: Request failed after 3 retries",
             "  Caused by: Failed to fetch: `https://index/simple/six/`",
             "  Caused by: error sending request for url", "  Caused by: client error (Connect)",
             "  Caused by: dns error",
             "  Caused by: failed to lookup address information: Name or service not known"},
            Unavailable("uv: Could not reach the package index (Name or service not known)")},
        Row{"uv_disk_full",
            "uv",
            {"error: Failed to install: a.whl", "  Caused by: No space left on device (os error 28)"},
            Error{Code::kResourceExhausted, "uv: No space left on device", {}}},
        Row{"no_pip",
            "pip",
            {"/d/bin/python: No module named pip"},
            FailedPrecondition("pip: the runtime version has no pip: remove it, and install it again while a "
                               "package index can be reached")},
        Row{"no_ensurepip",
            "venv",
            {"/usr/bin/python3.11: No module named ensurepip"},
            FailedPrecondition("venv: Python's ensurepip is missing (Debian: install python3-venv)")},
        Row{"unknown", "pip", {"one", "two"}, FailedPrecondition("pip: exited with status 1: two")},
        Row{"silent", "pip", {}, FailedPrecondition("pip: exited with status 1")}),
    [](const auto& row) { return row.param.name; });

TEST(Explain, NamesTheSignal) {
  EXPECT_EQ(ExplainFailure("pip", {0, 9, {}}), (Error{Code::kAborted, "pip: it was killed (signal 9)", {}}));
  EXPECT_EQ(ExplainFailure("pip", {0, 11, {}}), FailedPrecondition("pip: killed by signal 11"));
}

}  // namespace
}  // namespace trainyard::environment::tool_failure_test
