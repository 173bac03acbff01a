#include "rules/measurement/summaries.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "rules/measurement/testing/event_bytes.h"

namespace trainyard::measurement {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr const char* kRoot = "gs://b/job/1";

/// Reads a file that is now `bytes`.
bool Read(Summaries& summaries, const std::string& path, const std::string& bytes, std::uint64_t id = 1,
          std::uint64_t bytes_max = 1 << 20, std::size_t piece = 7) {
  return summaries.Read(kRoot, path, {.id = id, .size = bytes.size()}, bytes_max,
                        [&](std::uint64_t offset, std::span<char> buffer) {
                          const std::size_t size = std::min({buffer.size(), bytes.size() - offset, piece});
                          std::memcpy(buffer.data(), bytes.data() + offset, size);
                          return size;
                        });
}

std::vector<std::pair<std::int64_t, double>> Points(const Summaries& summaries) {
  std::vector<std::pair<std::int64_t, double>> points;
  for (const auto& one : summaries.Report().measurements()) points.emplace_back(one.step(), one.value());
  return points;
}

TEST(Summaries, AGrowingFileIsReadOn) {
  Summaries summaries({"acc"});
  std::string bytes = EventBytes({"acc", 1, 10, 0.25});
  const std::string second = EventBytes({"acc", 2, 11, 0.5});
  EXPECT_FALSE(Read(summaries, "f.tfevents.1", bytes + second.substr(0, 9)));
  EXPECT_THAT(Points(summaries), ElementsAre(std::pair(1, 0.25)));
  Read(summaries, "f.tfevents.1", bytes + second);
  EXPECT_THAT(Points(summaries), ElementsAre(std::pair(1, 0.25), std::pair(2, 0.5)));
  EXPECT_EQ(summaries.Report().place(), kRoot);
}

TEST(Summaries, ALargeFileIsReadInSlices) {
  Summaries summaries({"acc"});
  std::string bytes;
  for (int step = 0; step < 100; ++step) bytes += EventBytes({"acc", step, 10.0 + step, 0.5});
  int slices = 1;
  while (Read(summaries, "f.tfevents.1", bytes, 1, 100)) ++slices;
  EXPECT_GT(slices, 30);
  EXPECT_EQ(Points(summaries).size(), 100U);
}

TEST(Summaries, AFileReplacedByALongerOneIsReadOn) {
  Summaries summaries({"acc"});
  const std::string first = EventBytes({"acc", 1, 10, 0.25});
  Read(summaries, "f.tfevents.1", first, 1);
  std::size_t from = 0;
  const std::string both = first + EventBytes({"acc", 2, 11, 0.5});
  const auto read_at = [&](std::uint64_t offset, std::span<char> buffer) {
    if (from == 0) from = offset;
    return both.copy(buffer.data(), buffer.size(), offset);
  };
  summaries.Read(kRoot, "f.tfevents.1", {.id = 2, .size = both.size()}, 1 << 20, read_at);
  EXPECT_EQ(from, first.size());
  EXPECT_THAT(Points(summaries), ElementsAre(std::pair(1, 0.25), std::pair(2, 0.5)));
}

TEST(Summaries, AFileReplacedByAnotherIsReadFromItsBegin) {
  Summaries summaries({"acc"});
  Read(summaries, "f.tfevents.1", EventBytes({"acc", 1, 10, 0.25}) + EventBytes({"acc", 2, 11, 0.5}), 1);
  Read(summaries, "f.tfevents.1", EventBytes({"acc", 3, 20, 0.75}), 2);
  EXPECT_THAT(Points(summaries), ElementsAre(std::pair(1, 0.25), std::pair(2, 0.5), std::pair(3, 0.75)));
  // Longer, with record boundaries at other offsets: only the bytes show that it does not continue the old
  // file.
  const std::string longer =
      EventBytes({"other tag, longer", 4, 20, 0.75}) + EventBytes({"acc", 5, 20, 0.75});
  Read(summaries, "f.tfevents.1", longer, 3);
  Read(summaries, "f.tfevents.1", longer, 3);
  EXPECT_EQ(Points(summaries).back(), std::pair(std::int64_t{5}, 0.75));
}

TEST(Summaries, WhatIsNoEventFileIsGivenUp) {
  Summaries summaries({"acc"});
  EXPECT_FALSE(Read(summaries, "f.tfevents.1", std::string(1000, 'x')));
  EXPECT_FALSE(Read(summaries, "f.tfevents.1", std::string(2000, 'x')));
  EXPECT_TRUE(Points(summaries).empty());
}

TEST(Summaries, AFileThatShrinksWhileItIsReadIsLeftForTheNextTime) {
  Summaries summaries({"acc"});
  EXPECT_FALSE(summaries.Read(kRoot, "f.tfevents.1", {.id = 1, .size = 100}, 1000,
                              [](std::uint64_t, std::span<char>) { return std::size_t{0}; }));
}

struct FolderRow {
  const char* name;
  std::vector<const char*> files;  ///< each with its position as the value; later ones are newer
  double chosen;
};
class Folders : public testing::TestWithParam<FolderRow> {};
TEST_P(Folders, CountInOrder) {
  Summaries summaries({"acc"});
  double position = 0;
  for (const char* file : GetParam().files) {
    Read(summaries, file, EventBytes({"acc", 1, 100 + position, position}));
    ++position;
  }
  EXPECT_THAT(Points(summaries), ElementsAre(std::pair(1, GetParam().chosen)));
}
INSTANTIATE_TEST_SUITE_P(
    Rules, Folders,
    testing::Values(FolderRow{"validation_before_train", {"validation/a", "train/a"}, 0},
                    FolderRow{"eval_before_root", {"eval/a", "a"}, 0},
                    FolderRow{"named_eval", {"eval_holdout/a", "a"}, 0},
                    FolderRow{"root_before_train", {"a", "train/a"}, 0},
                    FolderRow{"root_before_others", {"a", "logs/a"}, 0},
                    FolderRow{"others_before_train", {"train/a", "logs/a"}, 1},
                    FolderRow{"deeper", {"keras/run/validation/a", "keras/run/train/a"}, 0},
                    FolderRow{"validation_in_train", {"train/validation/a", "a"}, 0},
                    FolderRow{"newest_of_equals", {"run_2/validation/a", "run_1/validation/a"}, 1}),
    [](const auto& row) { return row.param.name; });

TEST(Summaries, TheExactTagComesFirstWhereverItIs) {
  Summaries summaries({"acc"});
  Read(summaries, "validation/a", EventBytes({"acc_1", 1, 10, 0.1}));
  EXPECT_THAT(summaries.RenamedTags(), ElementsAre(RenamedTag{"acc", "acc_1", "gs://b/job/1/validation"}));
  Read(summaries, "train/a", EventBytes({"acc", 1, 10, 0.75}));
  EXPECT_THAT(summaries.RenamedTags(), IsEmpty());
  EXPECT_THAT(Points(summaries), ElementsAre(std::pair(1, 0.75)));
}

TEST(Summaries, TwoSuffixesAreNoAnswer) {
  Summaries summaries({"acc"});
  Read(summaries, "a", EventBytes({"acc_1", 1, 10, 0.1}) + EventBytes({"acc_2", 1, 10, 0.1}));
  EXPECT_TRUE(Points(summaries).empty());
  EXPECT_THAT(summaries.Report().seen_tags(), ElementsAre("acc_1", "acc_2"));
}

TEST(Summaries, WhatOnlyLooksLikeASuffixIsAnotherTag) {
  Summaries summaries({"acc"});
  Read(summaries, "a",
       EventBytes({"acc_", 1, 10, 0.1}) + EventBytes({"acc_top", 1, 10, 0.1}) +
           EventBytes({"acc1", 1, 10, 0.1}) + EventBytes({"epoch_acc", 1, 10, 0.1}));
  EXPECT_TRUE(Points(summaries).empty());
  EXPECT_THAT(summaries.Report().seen_tags(), ElementsAre("acc1", "acc_", "acc_top", "epoch_acc"));
}

/// Tag and values of each further tag.
std::vector<std::pair<std::string, std::vector<double>>> Further(const replica::v1::MetricReport& report) {
  std::vector<std::pair<std::string, std::vector<double>>> further;
  for (const auto& one : report.further()) {
    further.emplace_back(one.tag(), std::vector<double>());
    for (const auto& measurement : one.measurements()) further.back().second.push_back(measurement.value());
  }
  return further;
}

TEST(Summaries, AFurtherTagHasADirectoryOfItsOwn) {
  Summaries summaries({"acc", "loss", "auc"});
  Read(summaries, "train/a", EventBytes({"acc", 1, 10, 0.25}) + EventBytes({"loss", 1, 10, 4}));
  Read(summaries, "eval/a", EventBytes({"loss", 1, 10, 2}) + EventBytes({"other", 1, 10, 1}));
  const auto report = summaries.Report();
  EXPECT_THAT(Points(summaries), ElementsAre(std::pair(1, 0.25)));
  EXPECT_EQ(report.place(), "gs://b/job/1/train");
  EXPECT_THAT(Further(report), ElementsAre(std::pair(std::string("loss"), std::vector{2.0})));
  EXPECT_THAT(report.seen_tags(), ElementsAre("other"));
}

TEST(Summaries, AWantedTagIsNotASpellingOfAnother) {
  Summaries summaries({"acc", "acc_1", "loss"});
  Read(summaries, "a", EventBytes({"acc_1", 1, 10, 0.5}) + EventBytes({"loss_1", 1, 10, 2}));
  EXPECT_TRUE(Points(summaries).empty());
  EXPECT_THAT(Further(summaries.Report()), ElementsAre(std::pair(std::string("acc_1"), std::vector{0.5}),
                                                       std::pair(std::string("loss"), std::vector{2.0})));
  EXPECT_THAT(summaries.RenamedTags(), ElementsAre(RenamedTag{"loss", "loss_1", kRoot}));
}

TEST(Summaries, SeveralFilesOfAFolderAreOneCurve) {
  Summaries summaries({"acc"});
  Read(summaries, "eval/a", EventBytes({"acc", 5, 10, 0.5}));
  Read(summaries, "eval/b", EventBytes({"acc", 3, 20, 0.25}));
  EXPECT_THAT(Points(summaries), ElementsAre(std::pair(3, 0.25), std::pair(5, 0.5)));
  EXPECT_EQ(summaries.Report().place(), "gs://b/job/1/eval");
  EXPECT_EQ(summaries.files(), 2U);
}

TEST(Summaries, NotMoreFilesThanThat) {
  Summaries summaries({"acc"});
  for (std::size_t i = 0; i < kEventFilesMax + 10; ++i)
    Read(summaries, std::to_string(i) + "/a", EventBytes({"acc", 5, 10, 0.1}));
  EXPECT_EQ(summaries.files(), kEventFilesMax);
}

TEST(Summaries, KnowTheirFilesByName) {
  EXPECT_TRUE(IsEventFile("events.out.tfevents.1795272425.host.5935.0.v2"));
  EXPECT_FALSE(IsEventFile("checkpoint"));
}

}  // namespace
}  // namespace trainyard::measurement
