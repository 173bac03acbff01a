#include "programs/attempt/attempt_dir.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>

#include "base/async/testing/temporary_folder.h"

namespace trainyard::replica {
namespace {

/// While it exists no file of this process can become longer: writes fail in the middle, as on a full disk.
class ShortFiles {
 public:
  explicit ShortFiles(rlim_t bytes) {
    std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{.rlim_cur = bytes, .rlim_max = before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~ShortFiles() { setrlimit(RLIMIT_FSIZE, &before_); }
  ShortFiles(const ShortFiles&) = delete;
  ShortFiles& operator=(const ShortFiles&) = delete;

 private:
  rlimit before_{};
};

v1::ExitRecord Failed(const std::string& message) {
  v1::ExitRecord exit;
  exit.set_cause(v1::ExitRecord::EXITED);
  exit.set_exit_code(1);
  exit.set_message(message);
  return exit;
}

TEST(ExitRecord, IsThereAsAWholeOrNotAtAll) {
  const TemporaryFolder folder;
  const AttemptDir dir{folder.path()};
  {
    const ShortFiles full(16);
    EXPECT_FALSE(WriteExit(dir, Failed("a message that does not fit")));
  }
  EXPECT_TRUE(std::filesystem::is_empty(dir.path)) << "a part of it can be read";
  ASSERT_TRUE(WriteExit(dir, Failed("the first")));
  {
    const ShortFiles full(16);
    EXPECT_FALSE(WriteExit(dir, Failed("another message that does not fit")));
  }
  const auto found = ReadExit(dir);
  ASSERT_TRUE(found && *found);
  EXPECT_EQ((*found)->message(), "the first");
}

}  // namespace
}  // namespace trainyard::replica
