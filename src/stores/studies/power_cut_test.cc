#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "base/sqlite/testing/simulated_disk.h"
#include "base/wire/json.h"
#include "stores/studies/study_cases.h"

/// Studies on a disk that loses what was not synced: after a power cut at any write, what was answered is
/// there.
namespace trainyard::studies {
namespace {

using ml::v1::Trial;

constexpr SysTime kNow{std::chrono::seconds(1'700'000'000)};
const StudyName kStudy{.project = "p", .location = "l", .study_id = "s"};
const TrialName kTrial{.study = kStudy, .id = 1};

template <class Message>
Message FromJson(const std::string& text) {
  Message message;
  const Status read = wire::ParseJson(text, message);
  EXPECT_TRUE(read) << read.error().message;
  return message;
}

ml::v1::Study AStudy() {
  return FromJson<ml::v1::Study>(
      R"({"studyConfig": {"metrics": [{"metric": "acc", "goal": "MAXIMIZE"}], "parameters": [)"
      R"({"parameter": "x", "type": "DOUBLE", "doubleValueSpec": {"minValue": 0, "maxValue": 1}}]}})");
}

const std::string kMeasurement = R"({"stepCount": "1", "metrics": [{"metric": "acc", "value": 0.5}]})";

/// How many steps were answered before the disk was gone: a study, its trial, a measurement of it, its end.
int Answered(StudyStore& store) {
  if (!CreateStudy(store, kStudy, AStudy(), kNow)) return 0;
  const auto trial = FromJson<Trial>(R"({"parameters": [{"parameter": "x", "floatValue": 0.25}]})");
  if (!CreateTrial(store, kStudy, trial, kNow)) return 1;
  const auto measured =
      FromJson<ml::v1::AddTrialMeasurementRequest>(R"({"measurement": )" + kMeasurement + "}");
  if (!AddMeasurement(store, kTrial, measured, kNow)) return 2;
  if (!CompleteTrial(store, kTrial, {}, kNow)) return 3;
  return 4;
}

/// How many of these steps the store knows.
int Known(StudyStore& store) {
  if (!GetStudy(store, kStudy)) return 0;
  const auto trial = GetTrial(store, kTrial);
  if (!trial) return 1;
  if (trial->measurements().empty()) return 2;
  return trial->state() == Trial::COMPLETED ? 4 : 3;
}

TEST(PowerCut, LosesNoStudyAndNoTrialThatWasAnswered) {
  const std::string path = std::string(sqlite::SimulatedDisk::kFolder) + "studies.db";
  constexpr int kOperationsMax = 80;  // more than all steps take
  for (int operations = 0; operations < kOperationsMax; ++operations) {
    SCOPED_TRACE(std::to_string(operations) + " operations of the disk");
    sqlite::SimulatedDisk disk(static_cast<std::uint64_t>(operations));
    auto store = StudyStore::Open(path);
    ASSERT_TRUE(store) << store.error().message;
    disk.FailAfter(operations);
    const int answered = Answered(*store);
    store = std::unexpected(Unavailable("the power is off"));
    disk.PowerCut();
    store = StudyStore::Open(path);
    ASSERT_TRUE(store) << store.error().message;
    ASSERT_GE(Known(*store), answered);
  }
}

}  // namespace
}  // namespace trainyard::studies
