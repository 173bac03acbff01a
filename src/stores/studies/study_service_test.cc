#include "stores/studies/study_service.h"

#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <concepts>
#include <filesystem>
#include <optional>
#include <set>

#include "base/wire/json.h"
#include "base/wire/json_tree.h"
#include "stores/studies/study_cases.h"
#include "trainyard/ml/v1/study_operations.pb.h"

namespace trainyard::studies::study_service_test {
namespace {

namespace asio = boost::asio;
namespace original = google::cloud::ml::v1;
using ml::v1::Trial;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;

class SettableClock final : public Clock {
 public:
  [[nodiscard]] SysTime Now() const override { return now; }
  SysTime now{seconds{1'700'000'000}};
};

constexpr char kLine[] =
    R"({"parameter": "x", "type": "DOUBLE", "doubleValueSpec": {"minValue": 0, "maxValue": 1}})";
constexpr char kFour[] =
    R"({"parameter": "n", "type": "INTEGER", "integerValueSpec": {"minValue": 1, "maxValue": 4}})";

ml::v1::Study Config(const std::string& parameters, const std::string& more = {}) {
  ml::v1::Study study;
  const Status read = wire::ParseJson(
      R"({"studyConfig": {"metrics": [{"metric": "acc", "goal": "MAXIMIZE"}], "parameters": [)" + parameters +
          "]" + more + "}}",
      study);
  EXPECT_TRUE(read) << read.error().message;
  return study;
}

class StudyServiceTest : public testing::Test {
 protected:
  StudyServiceTest()
      : folder_(std::filesystem::temp_directory_path() /
                ("studies-" + std::to_string(::getpid()) + "-" +
                 testing::UnitTest::GetInstance()->current_test_info()->name())) {
    std::filesystem::create_directories(folder_);
    Start();
  }
  ~StudyServiceTest() override {
    service_.reset();
    std::filesystem::remove_all(folder_);
  }

  [[nodiscard]] std::string Path() const { return (folder_ / "studies.db").string(); }

  /// Starts a service on the file that takes over from the previous one.
  void Start() {
    service_.reset();
    auto opened = StudyService::Open(loop_.get_executor(), clock_, Path());
    ASSERT_TRUE(opened) << opened.error().message;
    service_ = *std::move(opened);
    ASSERT_TRUE(Ask(service_->Recover()));
  }

  /// Runs the loop until the answer is there and nothing is left to do.
  template <class T>
  T Ask(asio::awaitable<T> question) {
    std::optional<T> answer;
    asio::co_spawn(loop_, std::move(question),
                   [&answer](std::exception_ptr, T value) { answer = std::move(value); });
    loop_.restart();
    loop_.run();
    return *std::move(answer);
  }

  template <class Get, class... Args>
  auto Read(const Get& get, const Args&... args) {
    return Ask(service_->Read([&](StudyStore& store) { return get(store, args...); }));
  }
  template <class Change, class... Args>
  auto Write(const Change& change, const Args&... args) {
    return Ask(service_->Write([&](StudyStore& store, SysTime now) {
      if constexpr (std::invocable<Change, StudyStore&, Args..., SysTime>)
        return change(store, args..., now);
      else
        return change(store, args...);
    }));
  }

  void Create(const ml::v1::Study& study) {
    const auto created = Write(studies::CreateStudy, name_, study);
    ASSERT_TRUE(created) << created.error().message;
  }

  /// The operation in its final state.
  longrunning::Operation Suggest(const std::string& client, int count = 1) {
    ml::v1::SuggestTrialsRequest asked;
    asked.set_client_id(client);
    asked.set_suggestion_count(count);
    const auto begun = Ask(service_->Suggest(name_, asked));
    EXPECT_TRUE(begun) << begun.error().message;
    return begun ? Operation(*begun) : longrunning::Operation();
  }
  longrunning::Operation Operation(const longrunning::Operation& begun) {
    const auto got = Ask(service_->GetOperation(NameOf(begun)));
    EXPECT_TRUE(got) << got.error().message;
    EXPECT_TRUE(got->done());
    return *got;
  }
  static OperationName NameOf(const longrunning::Operation& operation) {
    const std::string id = operation.name().substr(operation.name().rfind('/') + 1);
    return {.project = "p", .location = "us-central1", .id = ParseId(id)};
  }

  static original::SuggestTrialsResponse Response(const longrunning::Operation& operation) {
    original::SuggestTrialsResponse response;
    EXPECT_TRUE(operation.response().UnpackTo(&response)) << operation.ShortDebugString();
    return response;
  }
  std::vector<std::string> Suggested(const std::string& client, int count = 1) {
    std::vector<std::string> ids;
    const auto response = Response(Suggest(client, count));
    for (const Trial& trial : response.trials())
      ids.push_back(trial.name().substr(trial.name().rfind('/') + 1));
    return ids;
  }

  TrialName TrialNamed(int id) { return {.study = name_, .id = id}; }

  void Complete(int id, double value) {
    ml::v1::CompleteTrialRequest asked;
    auto& metric = *asked.mutable_final_measurement()->add_metrics();
    metric.set_metric("acc");
    metric.set_value(value);
    const auto done = Write(studies::CompleteTrial, TrialNamed(id), asked);
    ASSERT_TRUE(done) << done.error().message;
  }

  Trial Get(int id) {
    const auto got = Read(studies::GetTrial, TrialNamed(id));
    EXPECT_TRUE(got) << got.error().message;
    return got.value_or(Trial());
  }

  std::filesystem::path folder_;
  SettableClock clock_;
  asio::io_context loop_;
  StudyName name_{.project = "p", .location = "us-central1", .study_id = "s"};
  std::unique_ptr<StudyService> service_;
};

TEST_F(StudyServiceTest, StudiesAreMadeListedAndDeleted) {
  Create(Config(kLine));
  const auto again = Write(studies::CreateStudy, name_, Config(kLine));
  EXPECT_EQ(again.error(), (AlreadyExists("A study with this id already exists.", "study_id")));
  const auto got = Read(studies::GetStudy, name_);
  ASSERT_TRUE(got);
  EXPECT_EQ(got->name(), "projects/p/locations/us-central1/studies/s");
  EXPECT_EQ(got->state(), ml::v1::Study::ACTIVE);
  EXPECT_EQ(got->create_time().seconds(), 1'700'000'000);
  EXPECT_THAT(wire::PrintJson(*Read(studies::ListStudies, "p", "us-central1")), HasSubstr("studies/s\""));
  EXPECT_EQ(wire::PrintJson(*Read(studies::ListStudies, "p", "us-east1")), "{}\n");
  EXPECT_EQ(wire::PrintJson(*Read(studies::ListStudies, "q", "us-central1")), "{}\n");
  EXPECT_THAT(Suggested("c"), ElementsAre("1"));
  ASSERT_TRUE(Write(studies::DeleteStudy, name_));
  EXPECT_EQ(Read(studies::GetStudy, name_).error(),
            (Error{Code::kNotFound, "The study cannot be found.", "name"}));
  EXPECT_EQ(Write(studies::DeleteStudy, name_).error().code, Code::kNotFound);
  Create(Config(kLine));
  EXPECT_EQ(Read(studies::GetTrial, TrialNamed(1)).error(),
            (Error{Code::kNotFound, "The trial cannot be found.", "name"}))
      << "a new study has none of the old one's trials";
}

TEST_F(StudyServiceTest, ASuggestionIsAnOperation) {
  Create(Config(kLine));
  ml::v1::SuggestTrialsRequest asked;
  asked.set_client_id("c");
  asked.set_suggestion_count(2);
  const auto begun = Ask(service_->Suggest(name_, asked));
  ASSERT_TRUE(begun);
  EXPECT_FALSE(begun->done());
  EXPECT_EQ(begun->name(), "projects/p/locations/us-central1/operations/1");
  const std::string json = wire::PrintJsonCompact(Operation(*begun));
  EXPECT_THAT(
      json, HasSubstr(R"("metadata":{"@type":"type.googleapis.com/google.cloud.ml.v1.SuggestTrialsMetadata",)"
                      R"("clientId":"c","createTime":"2023-11-14T22:13:20Z",)"
                      R"("study":"projects/p/locations/us-central1/studies/s","suggestionCount":2})"));
  EXPECT_THAT(
      json,
      HasSubstr(R"("response":{"@type":"type.googleapis.com/google.cloud.ml.v1.SuggestTrialsResponse")"));
  EXPECT_THAT(json, HasSubstr(R"("studyState":"ACTIVE","trials":[{"clientId":"c",)"));
  const Trial trial = Get(2);
  EXPECT_EQ(trial.state(), Trial::ACTIVE);
  EXPECT_TRUE(trial.has_start_time());
  EXPECT_EQ(Ask(service_->GetOperation({.project = "q", .location = "us-central1", .id = 1})).error(),
            (Error{Code::kNotFound, "The operation cannot be found.", "name"}));
}

TEST_F(StudyServiceTest, AClientGetsItsOwnTrialsAgain) {
  Create(Config(kLine));
  EXPECT_THAT(Suggested("a", 2), ElementsAre("1", "2"));
  EXPECT_THAT(Suggested("b"), ElementsAre("3"));
  EXPECT_THAT(Suggested("a"), ElementsAre("1")) << "as many as it asks for";
  EXPECT_THAT(Suggested("a", 3), ElementsAre("1", "2", "4"));
  Complete(1, 0.5);
  EXPECT_THAT(Suggested("a"), ElementsAre("2"));
  ASSERT_TRUE(Write(studies::StopTrial, TrialNamed(2)));
  EXPECT_THAT(Suggested("a"), ElementsAre("4")) << "one that should stop is not to be begun again";
}

TEST_F(StudyServiceTest, WhatAUserRequestsIsSuggestedFirst) {
  Create(Config(kLine));
  Trial asked;
  Trial::Parameter& x = *asked.add_parameters();
  x.set_parameter("x");
  x.set_float_value(0.125);
  const auto created = Write(studies::CreateTrial, name_, asked);
  ASSERT_TRUE(created) << created.error().message;
  EXPECT_EQ(created->state(), Trial::REQUESTED);
  const auto response = Response(Suggest("c", 2));
  ASSERT_EQ(response.trials_size(), 2);
  EXPECT_EQ(response.trials(0).name(), created->name());
  EXPECT_EQ(response.trials(0).client_id(), "c");
  EXPECT_EQ(response.trials(0).parameters(0).float_value(), 0.125);
  EXPECT_EQ(Get(1).state(), Trial::ACTIVE);
}

TEST_F(StudyServiceTest, RequestsThatAskForNothingAreRefused) {
  Create(Config(kLine));
  ml::v1::SuggestTrialsRequest asked;
  asked.set_suggestion_count(1);
  EXPECT_EQ(Ask(service_->Suggest(name_, asked)).error(),
            InvalidArgument("client_id", "This field is required."));
  asked.set_client_id("c");
  asked.set_suggestion_count(0);
  EXPECT_EQ(Ask(service_->Suggest(name_, asked)).error().field, "suggestion_count");
  asked.set_suggestion_count(kSuggestionsMax + 1);
  EXPECT_EQ(Ask(service_->Suggest(name_, asked)).error().field, "suggestion_count");
}

TEST_F(StudyServiceTest, AStudyEndsWithItsSpace) {
  Create(Config(kFour, R"(, "algorithm": "GRID_SEARCH")"));
  EXPECT_THAT(Suggested("a", 3), testing::SizeIs(3));
  const auto last = Response(Suggest("b", 3));
  EXPECT_EQ(last.trials_size(), 1);
  EXPECT_EQ(last.study_state(), ml::v1::Study::COMPLETED);
  EXPECT_EQ(Read(studies::GetStudy, name_)->state(), ml::v1::Study::COMPLETED);
  std::set<std::int64_t> values;
  for (int id = 1; id <= 4; ++id) values.insert(Get(id).parameters(0).int_value());
  EXPECT_THAT(values, ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(Suggested("b"), ElementsAre("4")) << "its own it still gets";
  ml::v1::SuggestTrialsRequest asked;
  asked.set_client_id("c");
  asked.set_suggestion_count(1);
  EXPECT_EQ(Ask(service_->Suggest(name_, asked)).error().code, Code::kResourceExhausted);
  ASSERT_TRUE(Write(studies::DeleteTrial, TrialNamed(2)));
  EXPECT_EQ(Read(studies::GetStudy, name_)->state(), ml::v1::Study::ACTIVE);
  const auto more = Response(Suggest("c"));
  ASSERT_EQ(more.trials_size(), 1);
  EXPECT_EQ(more.trials(0).name(), name_.ToString() + "/trials/5") << "ids are not used twice";
}

TEST_F(StudyServiceTest, TheDefaultAlgorithmEndsAFiniteSpaceToo) {
  Create(Config(kFour));
  EXPECT_THAT(Suggested("a", 4), testing::SizeIs(4));
  EXPECT_EQ(Read(studies::GetStudy, name_)->state(), ml::v1::Study::COMPLETED);
}

TEST_F(StudyServiceTest, NoPointOfAFiniteSpaceIsGivenTwice) {
  Create(Config(kFour));
  EXPECT_THAT(Suggested("a", 9), testing::SizeIs(4));
  std::set<std::int64_t> values;
  for (int id = 1; id <= 4; ++id) values.insert(Get(id).parameters(0).int_value());
  EXPECT_THAT(values, testing::SizeIs(4));
}

TEST_F(StudyServiceTest, TwoThatAskForTheLastPointAreBothAnswered) {
  Create(Config(kFour));
  EXPECT_THAT(Suggested("a", 3), testing::SizeIs(3));
  ml::v1::SuggestTrialsRequest asked;
  asked.set_suggestion_count(1);
  std::vector<longrunning::Operation> begun;
  for (const char* client : {"b", "c"}) {
    asked.set_client_id(client);
    asio::co_spawn(
        loop_, service_->Suggest(name_, asked),
        [&begun](std::exception_ptr, const Result<longrunning::Operation>& its) { begun.push_back(*its); });
  }
  loop_.restart();
  loop_.run();
  ASSERT_EQ(begun.size(), 2);
  EXPECT_EQ(Response(Operation(begun[0])).trials_size(), 1);
  EXPECT_EQ(Operation(begun[1]).error().code(), static_cast<int>(Code::kResourceExhausted));
}

/// With this many studies, the tuners of some are always dropped while their operations are being read.
TEST_F(StudyServiceTest, MoreStudiesThanTunersAreKeptLoseNothing) {
  constexpr int kStudies = 40;
  const auto name_of = [this](int i) {
    StudyName name = name_;
    name.study_id += std::to_string(i);
    return name;
  };
  const ml::v1::Study study = Config(kFour, R"(, "algorithm": "GRID_SEARCH")");
  for (int i = 0; i < kStudies; ++i) ASSERT_TRUE(Write(studies::CreateStudy, name_of(i), study));
  for (const char* client : {"a", "b", "c", "d"}) {
    ml::v1::SuggestTrialsRequest asked;
    asked.set_client_id(client);
    asked.set_suggestion_count(1);
    for (int i = 0; i < kStudies; ++i)
      asio::co_spawn(loop_, service_->Suggest(name_of(i), asked), asio::detached);
    loop_.restart();
    loop_.run();
  }
  for (int i = 0; i < kStudies; ++i) {
    std::set<std::int64_t> values;
    for (int id = 1; id <= 4; ++id) {
      const auto trial = Read(studies::GetTrial, TrialName{.study = name_of(i), .id = id});
      ASSERT_TRUE(trial) << i << ": " << trial.error().message;
      values.insert(trial->parameters(0).int_value());
    }
    EXPECT_THAT(values, ElementsAre(1, 2, 3, 4)) << i;
  }
}

TEST_F(StudyServiceTest, ADeletedTrialsPointDoesNotComeAgain) {
  Create(Config(kLine, R"(, "algorithm": "RANDOM_SEARCH")"));
  std::set<double> rates;
  for (int id = 1; id <= 5; ++id) {
    ASSERT_THAT(Suggested("a"), ElementsAre(std::to_string(id)));
    rates.insert(Get(id).parameters(0).float_value());
    ASSERT_TRUE(Write(studies::DeleteTrial, TrialNamed(id)));
  }
  EXPECT_THAT(rates, testing::SizeIs(5));
}

TEST_F(StudyServiceTest, EachChangeOfATrialIsARevision) {
  Create(Config(kLine));
  const auto revision = [this] { return Read(ReadRevision, name_).value(); };
  std::vector<StudyRevision> seen{revision()};
  EXPECT_EQ(revision(), seen.back());
  Suggested("a");
  seen.push_back(revision());
  ASSERT_TRUE(Write(studies::StopTrial, TrialNamed(1)));
  seen.push_back(revision());
  EXPECT_THAT(Read(ReadEvidence, name_)->trials, testing::SizeIs(1));
  ASSERT_TRUE(Write(studies::DeleteTrial, TrialNamed(1)));
  seen.push_back(revision());
  for (std::size_t i = 1; i < seen.size(); ++i) EXPECT_NE(seen[i], seen[i - 1]) << i;
}

/// A killed server leaves an operation that was answered and is not done.
TEST_F(StudyServiceTest, AFormerServersOperationsAreDone) {
  Create(Config(kLine));
  EXPECT_THAT(Suggested("a"), ElementsAre("1"));
  service_.reset();
  {
    auto store = StudyStore::Open(Path());
    ASSERT_TRUE(store);
    for (const char* client : {"a", "b", "b"}) {
      ml::v1::SuggestTrialsRequest asked;
      asked.set_client_id(client);
      asked.set_suggestion_count(1);
      ASSERT_TRUE(BeginSuggest(*store, name_, asked, clock_.Now()));
    }
    ASSERT_TRUE(BeginCheckStopping(*store, TrialNamed(1), clock_.Now()));
  }
  Start();
  const auto done = [this](std::int64_t id) {
    const auto got = Ask(service_->GetOperation({.project = "p", .location = "us-central1", .id = id}));
    EXPECT_TRUE(got && got->done());
    return *got;
  };
  EXPECT_EQ(Response(done(2)).trials(0).name(), name_.ToString() + "/trials/1");
  EXPECT_EQ(Response(done(3)).trials(0).name(), name_.ToString() + "/trials/2");
  EXPECT_EQ(Response(done(4)).trials(0).name(), name_.ToString() + "/trials/2")
      << "nothing is suggested twice";
  EXPECT_THAT(wire::PrintJsonCompact(done(5)),
              HasSubstr(R"("response":{"@type":"type.googleapis.com/google.cloud.ml.v1.)"
                        R"(CheckTrialEarlyStoppingStateResponse")"));
}

/// The suggestions depend on the study alone.
TEST_F(StudyServiceTest, ARequestOfTheFirstMomentIsDoneOnce) {
  Create(Config(kLine));
  ml::v1::SuggestTrialsRequest asked;
  asked.set_client_id("c");
  asked.set_suggestion_count(1);
  Result<longrunning::Operation> begun;
  asio::co_spawn(
      loop_, service_->Suggest(name_, asked),
      [&begun](std::exception_ptr, Result<longrunning::Operation> answer) { begun = std::move(answer); });
  EXPECT_TRUE(Ask(service_->Recover())) << "which finds what was just written";
  ASSERT_TRUE(begun);
  EXPECT_TRUE(Operation(*begun).done());
  EXPECT_THAT(Suggested("other"), ElementsAre("2")) << "the first one's trial is the only one";
}

TEST_F(StudyServiceTest, ARestartChangesNothing) {
  const auto run = [this](bool restart) {
    std::vector<double> points;
    Create(Config(kLine));
    for (int id = 1; id <= 8; ++id) {
      if (restart) Start();
      const auto response = Response(Suggest("c"));
      const double x = response.trials(0).parameters(0).float_value();
      points.push_back(x);
      Complete(id, -(x - 0.3) * (x - 0.3));
    }
    EXPECT_TRUE(Write(studies::DeleteStudy, name_));
    return points;
  };
  const std::vector<double> without = run(false);
  EXPECT_EQ(run(true), without);
}

TEST_F(StudyServiceTest, ACancelledOperationMakesNothing) {
  Create(Config(kLine));
  service_.reset();
  {
    auto store = StudyStore::Open(Path());
    ASSERT_TRUE(store);
    ml::v1::SuggestTrialsRequest asked;
    asked.set_client_id("a");
    asked.set_suggestion_count(1);
    ASSERT_TRUE(BeginSuggest(*store, name_, asked, clock_.Now()));
    ASSERT_TRUE(CancelOperation(*store, {.project = "p", .location = "us-central1", .id = 1}));
    ASSERT_TRUE(BeginSuggest(*store, name_, asked, clock_.Now()));
    ASSERT_TRUE(CancelOperation(*store, {.project = "p", .location = "us-central1", .id = 1})) << "again";
    EXPECT_EQ(CancelOperation(*store, {.project = "p", .location = "us-central1", .id = 9}).error().code,
              Code::kNotFound);
  }
  Start();
  const auto first = Ask(service_->GetOperation({.project = "p", .location = "us-central1", .id = 1}));
  ASSERT_TRUE(first && first->done());
  EXPECT_EQ(first->error().code(), 1);
  EXPECT_FALSE(first->has_response());
  ASSERT_TRUE(
      Write(studies::CancelOperation, OperationName{.project = "p", .location = "us-central1", .id = 2}));
  const auto second = Ask(service_->GetOperation({.project = "p", .location = "us-central1", .id = 2}));
  EXPECT_EQ(Response(*second).trials(0).name(), name_.ToString() + "/trials/1") << "done is done";
}

TEST_F(StudyServiceTest, OperationsOfADeletedStudyFail) {
  Create(Config(kLine));
  service_.reset();
  {
    auto store = StudyStore::Open(Path());
    ASSERT_TRUE(store);
    ml::v1::SuggestTrialsRequest asked;
    asked.set_client_id("a");
    asked.set_suggestion_count(1);
    ASSERT_TRUE(BeginSuggest(*store, name_, asked, clock_.Now()));
    ASSERT_TRUE(DeleteStudy(*store, name_));
  }
  Start();
  const auto got = Ask(service_->GetOperation({.project = "p", .location = "us-central1", .id = 1}));
  ASSERT_TRUE(got && got->done());
  EXPECT_EQ(got->error().code(), static_cast<int>(Code::kNotFound));
  EXPECT_EQ(got->error().message(), "The study was deleted.");
}

TEST_F(StudyServiceTest, DoneOperationsAreForgottenInTheEnd) {
  Create(Config(kLine));
  const auto first = Suggest("a");
  clock_.now += kOperationsKeptFor + seconds{1};
  Suggest("a");
  EXPECT_EQ(Ask(service_->GetOperation(NameOf(first))).error().code, Code::kNotFound);
}

/// The answer to "should this trial stop?".
bool ShouldStop(const longrunning::Operation& operation) {
  original::CheckTrialEarlyStoppingStateResponse response;
  EXPECT_TRUE(operation.response().UnpackTo(&response)) << operation.ShortDebugString();
  return response.should_stop();
}

TEST_F(StudyServiceTest, ATrialThatWasStoppedShouldStop) {
  Create(Config(kLine));
  EXPECT_THAT(Suggested("a"), ElementsAre("1"));
  const auto go_on = Ask(service_->CheckEarlyStopping(TrialNamed(1)));
  ASSERT_TRUE(go_on) << go_on.error().message;
  EXPECT_THAT(wire::PrintJsonCompact(*go_on),
              HasSubstr("google.cloud.ml.v1.CheckTrialEarlyStoppingStateMetatdata"))
      << "spelt as the original spells it";
  EXPECT_FALSE(ShouldStop(Operation(*go_on))) << "no rule is configured";
  ASSERT_TRUE(Write(studies::StopTrial, TrialNamed(1)));
  EXPECT_TRUE(ShouldStop(Operation(*Ask(service_->CheckEarlyStopping(TrialNamed(1))))));
  Complete(1, 1);
  EXPECT_EQ(Ask(service_->CheckEarlyStopping(TrialNamed(1))).error().code, Code::kFailedPrecondition);
}

TEST_F(StudyServiceTest, AnotherProcessThatHoldsTheFileOnlyDelays) {
  Create(Config(kLine));
  service_.reset();
  auto store = StudyStore::Open(Path());
  ASSERT_TRUE(store);
  ml::v1::SuggestTrialsRequest asked;
  asked.set_client_id("a");
  asked.set_suggestion_count(1);
  ASSERT_TRUE(BeginSuggest(*store, name_, asked, clock_.Now()));
  std::optional<sqlite::Transaction> held(*store->Begin());
  auto opened = StudyService::Open(loop_.get_executor(), clock_, Path());
  ASSERT_TRUE(opened);
  service_ = *std::move(opened);
  Status recovered;
  asio::co_spawn(loop_, service_->Recover(),
                 [&recovered](std::exception_ptr, Status status) { recovered = std::move(status); });
  testing::internal::CaptureStderr();
  // The first try ends when SQLite has waited long enough for the other's lock.
  std::string said;
  while (said.find("an operation of a study waits") == std::string::npos) {
    loop_.restart();
    loop_.run_one();
    said += testing::internal::GetCapturedStderr();
    testing::internal::CaptureStderr();
  }
  held.reset();
  loop_.restart();
  loop_.run();
  testing::internal::GetCapturedStderr();
  ASSERT_TRUE(recovered);
  const auto got = Ask(service_->GetOperation({.project = "p", .location = "us-central1", .id = 1}));
  ASSERT_TRUE(got && got->done());
  EXPECT_EQ(Response(*got).trials_size(), 1);
}

TEST_F(StudyServiceTest, TenThousandTrialsAreNoTrouble) {
  constexpr int kTrials = 10'000;
  Create(Config(kLine, R"(, "algorithm": "RANDOM_SEARCH")"));
  service_.reset();
  {
    auto store = StudyStore::Open(Path());
    ASSERT_TRUE(store);
    auto transaction = store->Begin();
    ASSERT_TRUE(transaction);
    auto study = store->FindStudy(name_);
    ASSERT_TRUE(study && *study);
    for (int id = 1; id <= kTrials; ++id) {
      StoredTrial trial{.id = id};
      const double x = id / static_cast<double>(kTrials + 1);
      ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(
          "state: COMPLETED parameters { parameter: 'x' float_value: " + std::to_string(x) +
              " } final_measurement { metrics { metric: 'acc' value: " + std::to_string(-x * x) + " } }",
          &trial.trial));
      trial.trial.set_name(TrialNamed(id).ToString());
      ASSERT_TRUE(store->PutTrial((*study)->uid, trial));
    }
    (*study)->next_trial = kTrials + 1;
    ASSERT_TRUE(store->PutStudy(**study));
    ASSERT_TRUE(transaction->Commit());
  }
  Start();
  EXPECT_THAT(Suggested("a", 3), ElementsAre("10001", "10002", "10003"));
  Complete(10001, -0.5);
  EXPECT_THAT(Suggested("b"), ElementsAre("10004"));
  const auto listed = Read(studies::ListTrials, name_);
  ASSERT_TRUE(listed);
  const auto answer = wire::ParseJsonTree(wire::PrintJson(*listed));
  ASSERT_TRUE(answer && answer->children.size() == 1);
  const auto& trials = answer->children.front().children;
  ASSERT_EQ(trials.size(), std::size_t{kTrials + 4});
  const auto& fields = trials[kTrials].children;
  const auto name = std::ranges::find(fields, "name", &wire::JsonValue::name);
  ASSERT_NE(name, fields.end());
  EXPECT_EQ(name->text, TrialNamed(kTrials + 1).ToString());
  EXPECT_THAT(wire::PrintJson(*Read(studies::ListOptimalTrials, name_)), HasSubstr("/trials/1\""));
}

}  // namespace
}  // namespace trainyard::studies::study_service_test
