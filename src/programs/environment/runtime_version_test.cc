#include "programs/environment/runtime_version.h"

#include <gtest/gtest.h>

namespace trainyard::environment {
namespace {

constexpr std::string_view kFull = R"({
  "version": "3.1", "kind": "operator", "pythons": ["3.11", "3.12"], "released": "2026-01-02", "notes": "ours",
  "locked": true, "packages": ["numpy==2.0.0", "tensorflow==2.99.1"], "provides": {"xgboost": "3.2.0"}})";

TEST(ParseRuntimeVersion, ReadsEveryMember) {
  const RuntimeVersion expected{.version = "3.1",
                                .kind = RuntimeVersion::Kind::kOperator,
                                .pythons = {"3.11", "3.12"},
                                .released = "2026-01-02",
                                .notes = "ours",
                                .packages = {"numpy==2.0.0", "tensorflow==2.99.1"},
                                .locked = true,
                                .provides = {{"xgboost", "3.2.0"}}};
  EXPECT_EQ(ParseRuntimeVersion(kFull), expected);
}

TEST(ParseRuntimeVersion, NeedsOnlyVersionAndPython) {
  const RuntimeVersion expected{.version = "bare", .pythons = {"3.11"}};
  EXPECT_EQ(ParseRuntimeVersion(R"({"version": "bare", "pythons": ["3.11"]})"), expected);
}

struct BadRow {
  const char* name;
  const char* json;
  const char* message;
};
class ParseRuntimeVersionBad : public testing::TestWithParam<BadRow> {};
TEST_P(ParseRuntimeVersionBad, SaysWhatIsWrong) {
  const auto runtime = ParseRuntimeVersion(GetParam().json);
  ASSERT_FALSE(runtime);
  EXPECT_EQ(runtime.error(), (Error{Code::kInvalidArgument, GetParam().message, {}}));
}
INSTANTIATE_TEST_SUITE_P(
    Rules, ParseRuntimeVersionBad,
    testing::Values(
        BadRow{"list", "[]", "not a JSON object"},
        BadRow{"no_version", R"({"pythons": ["3.11"]})",
               "\"version\" must be given, and of letters, digits, '.', '_' and '-'"},
        BadRow{"version_is_path", R"({"version": "../x", "pythons": ["3.11"]})",
               "\"version\" must be given, and of letters, digits, '.', '_' and '-'"},
        BadRow{"no_python", R"({"version": "1"})", "\"pythons\" must name at least one version"},
        BadRow{"python_patch", R"({"version": "1", "pythons": ["3.11.2"]})",
               "\"pythons\" must be like 3.11, not '3.11.2'"},
        BadRow{"unknown", R"({"version": "1", "pythons": ["3.11"], "python": "3.11"})",
               "unknown name \"python\""},
        BadRow{"packages_type", R"({"version": "1", "pythons": ["3.11"], "packages": "numpy"})",
               "\"packages\" must be a list of strings"},
        BadRow{"package_option", R"({"version": "1", "pythons": ["3.11"], "packages": ["--index-url=x"]})",
               "\"packages\" has an entry that is not one: '--index-url=x'"},
        BadRow{"library_folder_outside",
               R"({"version": "1", "pythons": ["3.11"], "library_folders": ["nvidia/../../lib"]})",
               "\"library_folders\" must be below site-packages"},
        BadRow{"locked_type", R"({"version": "1", "pythons": ["3.11"], "locked": "yes"})",
               "\"locked\" must be true or false"},
        BadRow{"without_cuda_path", R"({"version": "1", "pythons": ["3.11"], "without_cuda": "../x"})",
               "\"without_cuda\" must be below site-packages"},
        BadRow{"provides_path", R"({"version": "1", "pythons": ["3.11"], "provides": {"../x": "1"}})",
               "\"provides\" has an entry that is not one: '../x'"},
        BadRow{"kind", R"({"version": "1", "pythons": ["3.11"], "kind": "new"})",
               "\"kind\" must be original, trainyard, operator or tool, not 'new'"}),
    [](const auto& row) { return row.param.name; });

TEST(ParseRuntimeVersion, RefusesBrokenText) {
  for (const char* text : {"", "{", "{\"version\": \"1\"", "nonsense", "{\"version\": \"\xff\"}"})
    EXPECT_FALSE(ParseRuntimeVersion(text)) << text;
}

TEST(RuntimeFolder, ChangesWithWhatIsInstalledOnly) {
  const RuntimeVersion base = *ParseRuntimeVersion(kFull);
  const std::string folder = RuntimeFolder(base);
  EXPECT_EQ(folder.substr(0, 4), "3.1-");
  EXPECT_EQ(folder.size(), 16U);
  RuntimeVersion same = base;
  same.notes = same.released = "other";
  EXPECT_EQ(RuntimeFolder(same), folder);
  RuntimeVersion other = base;
  other.packages[0] = "numpy==2.0.1";
  EXPECT_NE(RuntimeFolder(other), folder);
  other = base;
  other.pythons.pop_back();
  EXPECT_NE(RuntimeFolder(other), folder);
  other = base;
  other.provides.clear();
  EXPECT_NE(RuntimeFolder(other), folder);
  other = base;
  other.without_cuda = "torch/lib";
  EXPECT_NE(RuntimeFolder(other), folder);
}

TEST(PinnedVersion, FindsExactNamesOnly) {
  const RuntimeVersion runtime{.packages = {"tensorflow-estimator==1.0", "tensorflow==2.15.1", "numpy"}};
  EXPECT_EQ(PinnedVersion(runtime, "tensorflow"), "2.15.1");
  EXPECT_EQ(PinnedVersion(runtime, "numpy"), "");
}

TEST(NamesOfTensorFlow, AreThoseThatTheRuntimeLacks) {
  using Names = std::map<std::string, std::string>;
  EXPECT_EQ(NamesOfTensorFlow({.packages = {"tensorflow==2.2.0"}}),
            (Names{{"tensorflow-cpu", "2.2.0"}, {"tensorflow-gpu", "2.2.0"}, {"tf-nightly", "2.2.0"}}));
  EXPECT_EQ(
      NamesOfTensorFlow({.packages = {"tensorflow-cpu==2.15.1"}, .provides = {{"tensorflow", "2.15.1"}}}),
      (Names{{"tensorflow-gpu", "2.15.1"}, {"tf-nightly", "2.15.1"}}));
  EXPECT_EQ(NamesOfTensorFlow({.packages = {"numpy==1.0"}}), Names());
}

}  // namespace
}  // namespace trainyard::environment
