#include "rules/retention/disk_marks.h"

#include <gtest/gtest.h>

namespace trainyard::retention {
namespace {

constexpr DiskMarks kMarks{.queue_below = 1'600, .refuse_below = 160};

DiskReading Free(std::int64_t bytes, std::int64_t inodes = -1) {
  return {.folder = "/data", .free_bytes = bytes, .free_inodes = inodes};
}

TEST(DiskLevel, GoesDownAtAMark) {
  using enum DiskLevel;
  EXPECT_EQ(LevelOf(Free(1'600), kMarks, kEnough), kEnough);
  EXPECT_EQ(LevelOf(Free(1'599), kMarks, kEnough), kLow);
  EXPECT_EQ(LevelOf(Free(160), kMarks, kLow), kLow);
  EXPECT_EQ(LevelOf(Free(159), kMarks, kEnough), kFull);
}

TEST(DiskLevel, GoesUpWithASixteenthMore) {
  using enum DiskLevel;
  EXPECT_EQ(LevelOf(Free(1'699), kMarks, kLow), kLow);
  EXPECT_EQ(LevelOf(Free(1'700), kMarks, kLow), kEnough);
  EXPECT_EQ(LevelOf(Free(169), kMarks, kFull), kFull);
  EXPECT_EQ(LevelOf(Free(170), kMarks, kFull), kLow);
  EXPECT_EQ(LevelOf(Free(1'700), kMarks, kFull), kEnough);
}

TEST(DiskLevel, CountsFilesToo) {
  EXPECT_EQ(LevelOf(Free(9'999, kFreeInodesMin - 1), kMarks, DiskLevel::kEnough), DiskLevel::kFull);
  EXPECT_EQ(LevelOf(Free(9'999, kFreeInodesMin), kMarks, DiskLevel::kEnough), DiskLevel::kEnough);
}

TEST(DiskLevel, AMarkOfZeroIsNone) {
  using enum DiskLevel;
  EXPECT_EQ(LevelOf(Free(0, 0), {.queue_below = 0, .refuse_below = 0}, kEnough), kEnough);
  EXPECT_EQ(LevelOf(Free(0, 0), {.queue_below = 10, .refuse_below = 0}, kEnough), kLow);
}

TEST(DiskLevel, ADiskInTroubleIsFullWhateverIsFree) {
  using enum DiskLevel;
  const DiskReading dead{.folder = "/data", .free_bytes = 9'999, .trouble = "answers with errors"};
  EXPECT_EQ(LevelOf(dead, kMarks, kEnough), kFull);
  EXPECT_EQ(LevelOf(dead, {.queue_below = 0, .refuse_below = 0}, kEnough), kFull);
  EXPECT_EQ(WhyJobsWait(dead, kMarks), "No job begins: the disk of /data answers with errors.");
  EXPECT_NE(WhatEndsTheWait(dead, kMarks).find("dmesg"), std::string::npos);
  const Status refused = CheckSpace(dead, kMarks, kFull);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kUnavailable) << "another try may do";
  EXPECT_NE(refused.error().message.find("the disk of /data answers with errors. The kernel's messages"),
            std::string::npos);
}

TEST(DiskTexts, SayWhatIsThereAndWhatIsWanted) {
  const DiskMarks marks{.queue_below = std::int64_t{16} << 30, .refuse_below = std::int64_t{256} << 20};
  EXPECT_EQ(WhyJobsWait(Free(std::int64_t{3} << 29), marks),
            "No job begins while the disk is nearly full: the disk of /data has 1.5 GiB free, less than 16.0 "
            "GiB.");
  EXPECT_EQ(WhatEndsTheWait(Free(0), marks),
            "It goes on when 17.0 GiB are free: objects, environments, images and old jobs can be removed "
            "(docs/operators.md, Disk).");
  EXPECT_TRUE(CheckSpace(Free(0), marks, DiskLevel::kLow));
  const Status refused = CheckSpace(Free(900), marks, DiskLevel::kFull);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kResourceExhausted);
  EXPECT_EQ(
      refused.error().message,
      "Nothing more can be stored: the disk of /data has 900 bytes free, less than 256.0 MiB (trainyard "
      "serve --refuse-below-free). Remove objects, environments, images or old jobs, then try again.");
  EXPECT_NE(CheckSpace(Free(std::int64_t{1} << 40, 3), marks, DiskLevel::kFull)
                .error()
                .message.find("has room for 3 more files, less than 1000"),
            std::string::npos);
}

}  // namespace
}  // namespace trainyard::retention
