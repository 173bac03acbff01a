#include "cli/run/requirements.h"

#include <gtest/gtest.h>

namespace trainyard::cli::requirements_test {
namespace {

using Items = std::vector<std::string>;

std::optional<std::string> NoFile(const std::string& /*path*/) { return std::nullopt; }

TEST(Requirements, AreTheLinesWithoutComments) {
  const auto read = [](const std::string& path) -> std::optional<std::string> {
    if (path == "more.txt") return "scipy";
    return std::nullopt;
  };
  EXPECT_EQ(ReadRequirements("requirements.txt",
                             "# what it needs\n\nnumpy>=1.24  # arrays\r\npandas[gcp] \\\n  ==2.1.0\n"
                             "one @ https://host/one.zip#sha256=0\n-r more.txt\n"
                             "tomli; python_version < '3.11'",
                             read),
            (Items{"numpy>=1.24", "pandas[gcp] ==2.1.0", "one @ https://host/one.zip#sha256=0", "scipy",
                   "tomli; python_version < '3.11'"}));
}

struct NamedRow {
  const char* name;
  const char* item;
  std::optional<std::string> named;
};
class RequirementName : public testing::TestWithParam<NamedRow> {};
TEST_P(RequirementName, IsThatOfTheAddress) {
  EXPECT_EQ(NamedRequirement(GetParam().item), GetParam().named);
}
INSTANTIATE_TEST_SUITE_P(
    Requirements, RequirementName,
    testing::Values(
        NamedRow{"plain", "numpy>=1.24", "numpy>=1.24"},
        NamedRow{"named", "one @ https://host/one.zip#egg=x", "one @ https://host/one.zip#egg=x"},
        NamedRow{"egg", "git+https://host/a/b.git@v1#egg=demo", "demo @ git+https://host/a/b.git@v1"},
        NamedRow{"egg_with_extras_and_folder", "git+ssh://git@host/b#egg=demo[gpu]&subdirectory=py",
                 "demo[gpu] @ git+ssh://git@host/b#subdirectory=py"},
        NamedRow{"wheel", "https://host/demo_one-1.0-py3-none-any.whl#sha256=0",
                 "demo_one @ https://host/demo_one-1.0-py3-none-any.whl#sha256=0"},
        NamedRow{"marker", "git+https://host/b#egg=b ; python_version < '3.11'",
                 "b @ git+https://host/b ; python_version < '3.11'"},
        NamedRow{"nameless", "git+https://host/a/b.git", std::nullopt},
        NamedRow{"nameless_archive", "https://host/b.tar.gz#sha256=0", std::nullopt}),
    [](const auto& row) { return row.param.name; });

struct Row {
  const char* name;
  const char* text;
  const char* error;
};
class RequirementRefused : public testing::TestWithParam<Row> {};
TEST_P(RequirementRefused, WithItsLine) {
  const auto read = ReadRequirements("requirements.txt", GetParam().text, NoFile);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().message, GetParam().error);
}
INSTANTIATE_TEST_SUITE_P(
    Requirements, RequirementRefused,
    testing::Values(Row{"address", "git+https://host/b.git",
                        "requirements.txt:1: `git+https://host/b.git` does not name the package: write it as "
                        "`NAME @ URL`"},
                    Row{"index", "numpy\n--extra-index-url https://host/simple\n",
                        "requirements.txt:2: `--extra-index-url https://host/simple` is an option of pip, "
                        "which is not supported here: remove it"},
                    Row{"hash", "numpy==1 --hash=sha256:00\n",
                        "requirements.txt:1: `numpy==1 --hash=sha256:00` is an option of pip, which is not "
                        "supported here: remove it"},
                    Row{"folder", "\n./mine\n",
                        "requirements.txt:2: `./mine` is a path on this machine: put the package's folder "
                        "next to the program"},
                    Row{"other_file", "-r nope.txt",
                        "requirements.txt:1: `-r nope.txt` names a file that cannot be read"}),
    [](const auto& row) { return row.param.name; });

TEST(ProjectDependencies, AreThoseOfTheProjectTable) {
  const auto read = [](const char* text) { return ReadProjectDependencies("pyproject.toml", text); };
  EXPECT_EQ(read("[build-system]\nrequires = ['setuptools']\n[project]\nname = 'x'\n"
                 "dependencies = [\n  \"numpy>=1\",  # arrays\n  "
                 "'pandas[gcp]',\n]\n[project.optional-dependencies]\n"
                 "dependencies = ['no']\n"),
            (Items{"numpy>=1", "pandas[gcp]"}));
  EXPECT_EQ(read("[tool.ruff]\nline-length = 100\n"), Items{});
  EXPECT_EQ(read("[project]\ndependencies = 3\n").error().message,
            "pyproject.toml: the dependencies are not a list of strings");
  EXPECT_EQ(
      read("[tool.poetry.dependencies]\nnumpy = '1'\n").error().message,
      "pyproject.toml has Poetry's own table of dependencies: write them into a requirements.txt (poetry "
      "export)");
}

}  // namespace
}  // namespace trainyard::cli::requirements_test
