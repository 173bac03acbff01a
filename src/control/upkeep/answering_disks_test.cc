#include "control/upkeep/machine_watch.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <semaphore>

namespace trainyard::control {
namespace {

using Space = AnsweringDisks::Space;
constexpr Space kSpace{.device = 1, .bytes = 100, .bytes_free = 10};
constexpr std::chrono::milliseconds kShort{50};

/// A disk that answers only when it is allowed to; shared with threads that are never joined.
struct Disk {
  std::counting_semaphore<> may_answer{0};
  std::counting_semaphore<> was_asked{0};
  std::atomic<int> asked{0};
};

TEST(AnsweringDisksTest, AreAskedOfTheKernel) {
  AnsweringDisks disks;
  const auto spaces = disks.Look({"/", "/nosuch"});
  ASSERT_TRUE(spaces[0]);
  EXPECT_GT(spaces[0]->bytes, 0);
  EXPECT_FALSE(spaces[1]);
}

TEST(AnsweringDisksTest, OneThatHangsKeepsNobodyAndIsAskedOnce) {
  const auto disk = std::make_shared<Disk>();
  const auto ask = [disk](const std::string& folder) -> std::optional<Space> {
    if (folder == "/hangs") {
      ++disk->asked;
      disk->was_asked.release();
      disk->may_answer.acquire();
    }
    return kSpace;
  };
  AnsweringDisks disks(ask, kShort);
  for (int i = 0; i < 3; ++i) {
    const auto spaces = disks.Look({"/hangs", "/data"});
    EXPECT_FALSE(spaces[0]);
  }
  disk->was_asked.acquire();
  EXPECT_EQ(disk->asked, 1) << "its thread is still there";
  AnsweringDisks patient(ask, std::chrono::minutes(1));
  EXPECT_EQ(patient.Look({"/data"}).front(), kSpace);
  disk->may_answer.release(2);
  EXPECT_EQ(patient.Look({"/hangs"}).front(), kSpace) << "the disk is back";
}

}  // namespace
}  // namespace trainyard::control
