#include "engine/agent/node_facts.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace trainyard::agent {
namespace {

namespace fs = std::filesystem;

class KeptNodeFactsTest : public testing::Test {
 protected:
  /// Nobody listens at the index's port.
  KeptNodeFactsTest() {
    fs::create_directory(folder_);
    ::setenv("UV_DEFAULT_INDEX", "http://127.0.0.1:1/simple", 1);
  }
  ~KeptNodeFactsTest() override {
    ::unsetenv("UV_DEFAULT_INDEX");
    fs::remove_all(folder_);
  }
  Result<NodeFacts> Facts() {
    return KeptNodeFacts(file_, {.environments_dir = folder_ / "environments"}, [] {});
  }
  [[nodiscard]] ino_t Inode() const {
    struct stat found{};
    return ::stat(file_.c_str(), &found) == 0 ? found.st_ino : 0;
  }

  const fs::path folder_ = fs::temp_directory_path() / ("node_facts_test." + std::to_string(::getpid()));
  const std::string file_ = folder_ / "facts";
};

TEST_F(KeptNodeFactsTest, AreLookedForOnceInAWhile) {
  const auto first = Facts();
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_GT(first->node.cpus(), 0);
  EXPECT_TRUE(first->node.way_out_lacking().starts_with("cannot connect to 127.0.0.1:1"))
      << first->node.way_out_lacking();
  const ino_t kept = Inode();
  ASSERT_NE(kept, 0U);
  const auto second = Facts();
  ASSERT_TRUE(second);
  EXPECT_EQ(second->node.SerializeAsString(), first->node.SerializeAsString());
  EXPECT_EQ(Inode(), kept) << "nobody looked";
  fs::last_write_time(file_, fs::file_time_type::clock::now() - kNodeFactsKept - std::chrono::seconds(1));
  ASSERT_TRUE(Facts());
  EXPECT_NE(Inode(), kept) << "they were too old";
}

TEST_F(KeptNodeFactsTest, AFileThatIsNoneIsLookedPast) {
  std::ofstream(file_) << "garbage";
  const auto facts = Facts();
  ASSERT_TRUE(facts);
  EXPECT_GT(facts->node.cpus(), 0);
}

}  // namespace
}  // namespace trainyard::agent
