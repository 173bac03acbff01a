#include "programs/interpreters/warm_mother.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "base/async/file.h"
#include "base/async/remove_tree.h"
#include "base/async/unix_socket.h"
#include "programs/interpreters/warm_folder.h"

namespace trainyard::replica {
namespace {

namespace fs = std::filesystem;

/// A mother that waits, and an attempt whose program could start in it.
class WarmMotherTest : public testing::Test {
 protected:
  WarmMotherTest() {
    const fs::path warm = data_ / kWarmFolder;
    fs::create_directories(warm);
    fs::create_directories(dir_.Work());
    const auto address = UnixAddress::Make(warm / "a.sock");
    EXPECT_TRUE(address && bind(socket_.get(), address->get(), sizeof(address->address)) == 0 &&
                listen(socket_.get(), 1) == 0);
    EXPECT_TRUE(ReplaceFile(WarmFolder{warm}.Description("1-a"), "socket a.sock\ntop six\nready\n", 0600));
  }
  ~WarmMotherTest() override { EXPECT_TRUE(RemoveTree(data_)); }
  [[nodiscard]] bool IsFound() const {
    return FindWarmMother(dir_, {.python = "/runtimes/1-a/bin/python", .variables = {}, .layer = {}}, {})
        .has_value();
  }

  static fs::path MakeFolder() {
    std::string name = testing::TempDir() + "warm-XXXXXX";
    return mkdtemp(name.data());
  }

  const fs::path data_ = MakeFolder();
  const AttemptDir dir_{data_ / "attempts" / "1-master-replica-0-1"};
  UniqueFd socket_{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
};

TEST_F(WarmMotherTest, IsNotUsedIfTheWorkingDirectoryHasAnImportedModule) {
  EXPECT_TRUE(WriteFileAtomically(dir_.Work() + "/seven.py", ""));
  EXPECT_TRUE(IsFound());
  EXPECT_TRUE(WriteFileAtomically(dir_.Work() + "/six.py", ""));
  EXPECT_FALSE(IsFound());
}

}  // namespace
}  // namespace trainyard::replica
