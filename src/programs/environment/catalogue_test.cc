#include "programs/environment/catalogue.h"

#include <gtest/gtest.h>

#include <fstream>

#include "programs/environment/temporary_folder_for_test.h"

namespace trainyard::environment {
namespace {

void Write(const std::filesystem::path& file, std::string_view text) {
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file) << text;
}

TEST(Catalogue, HasTheOriginalsAndOurs) {
  const auto catalogue = Catalogue::Load("/nonexistent");
  ASSERT_TRUE(catalogue);
  std::vector<std::string> names;
  for (const RuntimeVersion& runtime : catalogue->versions()) names.push_back(runtime.version);
  EXPECT_EQ(names, (std::vector<std::string>{"1.0",
                                             "1.1",
                                             "1.2",
                                             "1.3",
                                             "1.4",
                                             "1.5",
                                             "1.6",
                                             "1.7",
                                             "1.8",
                                             "1.9",
                                             "1.10",
                                             "1.11",
                                             "1.12",
                                             "1.13",
                                             "1.14",
                                             "1.15",
                                             "2.1",
                                             "2.2",
                                             "2.3",
                                             "2.4",
                                             "2.5",
                                             "2.6",
                                             "2.7",
                                             "2.8",
                                             "2.9",
                                             "2.10",
                                             "2.11",
                                             "2.15",
                                             "2.21",
                                             "2.10-gpu",
                                             "2.11-gpu",
                                             "2.15-gpu",
                                             "2.15-py310",
                                             "2.15-py310-gpu",
                                             "2.20-tpu",
                                             "2.21-gpu",
                                             "2.5-gpu",
                                             "2.6-gpu",
                                             "2.7-gpu",
                                             "2.8-gpu",
                                             "2.9-gpu",
                                             "algorithms",
                                             "algorithms-gpu",
                                             "pytorch",
                                             "pytorch-2.15",
                                             "pytorch-2.15-gpu",
                                             "pytorch-gpu"}));
  for (const RuntimeVersion& runtime : catalogue->versions()) {
    SCOPED_TRACE(runtime.version);
    if (!runtime.gpu_variant.empty()) EXPECT_NE(catalogue->Find(runtime.gpu_variant), nullptr);
    for (const std::string& tool : runtime.tools) EXPECT_TRUE(LoadTool("/nonexistent", tool));
    if (!std::isdigit(runtime.version.front())) continue;
    const std::string number = runtime.version.substr(0, runtime.version.find('-'));
    EXPECT_EQ(PinnedVersion(runtime, "tensorflow").substr(0, number.size()), number);
  }
}

TEST(Catalogue, OperatorsFilesAddAndReplace) {
  const TemporaryFolder folder;
  Write(folder.path() / "runtimes.d/0.1.json", R"({"version": "0.1", "pythons": ["3.11"]})");
  Write(folder.path() / "runtimes.d/2.15.json", R"({"version": "2.15", "pythons": ["3.12"]})");
  Write(folder.path() / "runtimes.d/README", "not a definition");
  const auto catalogue = Catalogue::Load(folder.path());
  ASSERT_TRUE(catalogue) << catalogue.error().message;
  EXPECT_EQ(catalogue->versions().size(), 48U);
  EXPECT_EQ(catalogue->versions().front().version, "0.1");
  EXPECT_EQ(*catalogue->Find("2.15"), (RuntimeVersion{.version = "2.15", .pythons = {"3.12"}}));
  EXPECT_EQ(LoadRuntimeVersion(folder.path(), "2.15"), *catalogue->Find("2.15"));
  EXPECT_EQ(LoadRuntimeVersion(folder.path(), "2.21"), *catalogue->Find("2.21"));
  EXPECT_EQ(catalogue->Find("3.0"), nullptr);
}

TEST(Catalogue, NamesTheFileThatIsWrong) {
  const TemporaryFolder folder;
  const std::string file = folder.path() / "runtimes.d/0.1.json";
  Write(file, R"({"version": "0.2", "pythons": ["3.11"]})");
  const Error misnamed{
      Code::kInvalidArgument, file + ": it defines version '0.2', so its name must be 0.2.json", {}};
  const auto loaded = Catalogue::Load(folder.path());
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error(), misnamed);
  EXPECT_EQ(LoadRuntimeVersion(folder.path(), "0.1"), (Result<RuntimeVersion>(std::unexpected(misnamed))));
  Write(file, "{");
  ASSERT_FALSE(Catalogue::Load(folder.path()));
  EXPECT_TRUE(Catalogue::Load(folder.path()).error().message.starts_with(file + ": not JSON"));
}

TEST(LoadRuntimeVersion, RefusesPathsAndUnknownNames) {
  const TemporaryFolder folder;
  Write(folder.path() / "outside.json", R"({"version": "outside", "pythons": ["3.11"]})");
  for (const char* name : {"../outside", "", "9.9", "/etc/passwd"})
    EXPECT_EQ(LoadRuntimeVersion(folder.path(), name),
              (Result<RuntimeVersion>(
                  std::unexpected(NotFound("there is no runtime version '" + std::string(name) + "'")))));
}

}  // namespace
}  // namespace trainyard::environment
