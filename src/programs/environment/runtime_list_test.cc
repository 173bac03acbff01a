#include "programs/environment/built_runtime.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "programs/environment/temporary_folder_for_test.h"

namespace trainyard::environment {
namespace {

TEST(RuntimeList, SaysWhatThereIsAndWhatTheOthersNeed) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder.path() / "runtimes.d");
  std::ofstream(folder.path() / "runtimes.d/spade.json")
      << R"({"version": "spade", "kind": "tool", "pythons": ["3.11"]})";
  const Catalogue catalogue({{.version = "1.0", .pythons = {"3.7"}},
                             {.version = "2.0", .pythons = {"3.11", "3.12"}, .tools = {"spade", "nosuch"}},
                             {.version = "2.1", .pythons = {"3.11"}, .tools = {"spade"}}});
  const AvailablePythons available{{{.version = "3.11", .path = "/usr/bin/python3.11"}}};
  const control::v1::RuntimeList list = ListRuntimes(folder.path(), catalogue, "2.1", available);
  std::string seen;
  for (const control::v1::Runtime& runtime : list.runtimes())
    seen += runtime.version() + (runtime.is_default() ? " (default)" : "") + ": " + runtime.state() + "\n";
  EXPECT_EQ(seen, "1.0: needs " + MissingFor(*catalogue.Find("1.0"), available) +
                      "\n"
                      "2.0: can be built\n"
                      "2.1 (default): can be built\n"
                      "spade: can be built\n");
  EXPECT_EQ(list.runtimes(1).pythons_size(), 2);
  EXPECT_FALSE(list.runtimes(1).has_package_layers());
  EXPECT_FALSE(list.has_cache_last_use());
  EXPECT_EQ(list.pythons_bytes(), 0);
}

TEST(RuntimeList, SaysHowMuchWasDownloaded) {
  const TemporaryFolder folder;
  for (const char* file : {"cache/uv/a.whl", "pythons/cpython-3.12/python"}) {
    const std::filesystem::path path = std::filesystem::path(folder.path()) / file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << std::string(100'000, 'x');
  }
  const control::v1::RuntimeList list = ListRuntimes(folder.path(), Catalogue({}), "2.1", {});
  EXPECT_GE(list.cache_bytes(), 100'000);
  EXPECT_TRUE(list.has_cache_last_use());
  EXPECT_GE(list.pythons_bytes(), 100'000);
}

}  // namespace
}  // namespace trainyard::environment
