#include "control/job_service.h"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <set>

#include "control/run/manifest.h"
#include "control/testing/world.h"
#include "control/views/usage_report.h"
#include "rules/notices/destination.h"

namespace trainyard::control {
namespace {

class JobServiceTest : public World {
 protected:
  JobServiceTest() {
    replicas_->SetScript([](const Manifest&) { return FakeScript{.exit = std::nullopt}; });
  }
  Result<Job> Patch(const std::string& job_id, Job patch, const std::string& mask) {
    return Await(service_->Patch({"p", job_id}, std::move(patch), mask));
  }
  static Job Labelled(const std::string& value, const std::string& etag = "") {
    Job job;
    (*job.mutable_labels())["key"] = value;
    job.set_etag(etag);
    return job;
  }
  std::vector<std::string> Ids(JobService::ListQuery query) {
    query.project = "p";
    Result<ml::v1::ListJobsResponse> page = Await(service_->List(std::move(query)));
    EXPECT_TRUE(page) << page.error().message;
    std::vector<std::string> ids;
    if (page) {
      for (const Job& job : page->jobs()) ids.push_back(job.job_id());
      token_ = page->next_page_token();
    }
    return ids;
  }
  void EndJob(const std::string& job_id) {
    ASSERT_TRUE(Cancel(job_id));
    ASSERT_TRUE(RunUntil([&] { return Record(job_id).job().state() == Job::CANCELLED; }));
  }
  std::string token_;
};

TEST_F(JobServiceTest, CreateRefusesAnIdThatIsTaken) {
  ASSERT_TRUE(Create(MakeJob("j")));
  Result<Job> again = Create(MakeJob("j"));
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, Code::kAlreadyExists);
  EXPECT_EQ(again.error().field, "job.job_id");
  EXPECT_THAT(again.error().message,
              testing::MatchesRegex(
                  "A job with this id already exists\\. It is (QUEUED|PREPARING|RUNNING|SUCCEEDED)\\."));
  EXPECT_TRUE(Await(service_->Create("q", MakeJob("j")))) << "another project's ids are its own";
}

TEST_F(JobServiceTest, AJobKnowsWhoCreatedIt) {
  ASSERT_TRUE(Await(service_->Create("p", MakeJob("anns"), Creator{.principal = "user:ann@example.com"})));
  ASSERT_TRUE(Create(MakeJob("nobodys")));
  KillServer();
  StartServer();
  EXPECT_EQ(Record("anns").creator(), "user:ann@example.com");
  EXPECT_EQ(Record("nobodys").creator(), "");
  v1::UsageReport report;
  AddJobs(service_->registry(), report);
  ASSERT_EQ(report.jobs_size(), 2);
  EXPECT_EQ(report.jobs(0).creator(), "user:ann@example.com");
  EXPECT_EQ(report.jobs(0).project(), "p");
}

TEST_F(JobServiceTest, UnknownJobs) {
  const Error unknown{Code::kNotFound, "The job cannot be found.", "name"};
  EXPECT_EQ(Await(service_->Get({"p", "j"})).error(), unknown);
  EXPECT_EQ(Cancel("j").error(), unknown);
  EXPECT_EQ(Patch("j", Job(), "labels").error(), unknown);
}

TEST_F(JobServiceTest, PatchReplacesLabelsAndChangesTheEtag) {
  ASSERT_TRUE(Create(MakeJob("j")));
  ASSERT_TRUE(WaitForState("j", Job::RUNNING));
  const std::string before = Get("j").etag();
  Result<Job> patched = Patch("j", Labelled("1"), "labels");
  ASSERT_TRUE(patched) << patched.error().message;
  EXPECT_EQ(patched->labels().at("key"), "1");
  EXPECT_NE(patched->etag(), before);
  EXPECT_EQ(Patch("j", Labelled("2", before), "labels,etag").error().code, Code::kAborted);
  EXPECT_EQ(Patch("j", Labelled("2"), "labels,etag").error().field, "job.etag");
  EXPECT_EQ(Get("j").labels().at("key"), "1");
  EXPECT_TRUE(Patch("j", Labelled("3", patched->etag()), "labels,etag"));
  EXPECT_EQ(Get("j").labels().at("key"), "3");
}

TEST_F(JobServiceTest, PatchRefusesALabelThatNamesNoDestinationOfNotices) {
  ASSERT_TRUE(Create(MakeJob("j")));
  Job named;
  (*named.mutable_labels())[std::string(notices::kLabel)] = "nobody";
  const Result<Job> patched = Patch("j", named, "labels");
  ASSERT_FALSE(patched);
  EXPECT_EQ(patched.error().field, "job.labels");
  EXPECT_TRUE(Get("j").labels().empty());
}

TEST_F(JobServiceTest, PatchOfTheEtagAloneChangesNothing) {
  Job job = MakeJob("j");
  (*job.mutable_labels())["key"] = "kept";
  ASSERT_TRUE(Create(job));
  ASSERT_TRUE(WaitForState("j", Job::RUNNING));
  Job patch;
  patch.set_etag(Get("j").etag());
  Result<Job> patched = Patch("j", patch, "etag");
  ASSERT_TRUE(patched) << patched.error().message;
  EXPECT_EQ(patched->labels().at("key"), "kept");
  EXPECT_EQ(patched->etag(), patch.etag());
}

TEST_F(JobServiceTest, OfTwoPatchesWithOneEtagOneIsRefused) {
  ASSERT_TRUE(Create(MakeJob("j")));
  ASSERT_TRUE(WaitForState("j", Job::RUNNING));
  const std::string etag = Get("j").etag();
  std::vector<bool> done;
  for (const char* value : {"1", "2"}) {
    boost::asio::co_spawn(loop_.context, service_->Patch({"p", "j"}, Labelled(value, etag), "labels,etag"),
                          [&done](const std::exception_ptr&, const Result<Job>& patched) {
                            done.push_back(patched.has_value());
                          });
  }
  ASSERT_TRUE(RunUntil([&done] { return done.size() == 2; }));
  EXPECT_THAT(done, testing::UnorderedElementsAre(true, false));
}

TEST_F(JobServiceTest, PatchMasks) {
  ASSERT_TRUE(Create(MakeJob("j")));
  for (const char* mask : {"", ",", "state", "labels,state", "jobId", "job_id", "labels.key", "*"}) {
    Result<Job> patched = Patch("j", Labelled("1"), mask);
    ASSERT_FALSE(patched) << mask;
    EXPECT_EQ(patched.error().field, "update_mask") << mask;
  }
  EXPECT_TRUE(Get("j").labels().empty());
  for (const char* mask : {"labels", "labels,", ",labels", "labels,labels", " labels "}) {
    EXPECT_TRUE(Patch("j", Labelled("1"), mask)) << mask;
  }
  EXPECT_EQ(Patch("j", Labelled("NOT A LABEL"), "labels").error().code, Code::kInvalidArgument);
}

TEST_F(JobServiceTest, EveryEventOfAJobChangesItsEtag) {
  const Result<Job> created = Create(MakeJob("j"));
  ASSERT_TRUE(created);
  std::set<std::string> etags{created->etag()};  // asked for later, it may run already
  ASSERT_TRUE(WaitForState("j", Job::RUNNING));
  etags.insert(Get("j").etag());
  ASSERT_TRUE(Patch("j", Labelled("1"), "labels"));
  etags.insert(Get("j").etag());
  EndJob("j");
  etags.insert(Get("j").etag());
  ASSERT_TRUE(Patch("j", Labelled("1"), "labels"));
  etags.insert(Get("j").etag());
  EXPECT_EQ(etags.size(), 5U);
}

iam::v1::SetIamPolicyRequest Viewer(const std::string& member, const std::string& etag = "") {
  iam::v1::SetIamPolicyRequest request;
  iam::v1::Binding& binding = *request.mutable_policy()->add_bindings();
  binding.set_role("roles/ml.viewer");
  binding.add_members(member);
  request.mutable_policy()->set_etag(etag);
  return request;
}

TEST_F(JobServiceTest, PoliciesAreKeptOverRestartsOfTheServer) {
  ASSERT_TRUE(Create(MakeJob("j")));
  ASSERT_TRUE(WaitForState("j", Job::RUNNING));
  const auto get = [this] { return Await(service_->GetPolicy({"p", "j"})); };
  EXPECT_EQ(get()->etag(), std::string("\0 \1", 3));
  const auto set = Await(service_->SetPolicy({"p", "j"}, Viewer("user:a@b.c", get()->etag()), {}));
  ASSERT_TRUE(set) << set.error().message;
  EXPECT_EQ(set->etag().size(), 8U);
  KillServer();
  StartServer();
  EXPECT_EQ(get()->ShortDebugString(), set->ShortDebugString());
  // Events of the job are not a conflict, another change of the policy is.
  EndJob("j");
  const auto again = Await(service_->SetPolicy({"p", "j"}, Viewer("user:d@e.f", set->etag()), {}));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_GT(again->etag(), set->etag());
  const auto stale = Await(service_->SetPolicy({"p", "j"}, Viewer("user:g@h.i", set->etag()), {}));
  EXPECT_EQ(stale.error().code, Code::kAborted);
  EXPECT_EQ(get()->bindings(0).members(0), "user:d@e.f");
  EXPECT_TRUE(Await(service_->SetPolicy({"p", "j"}, Viewer("user:g@h.i"), {}))) << "without an etag, blindly";
  EXPECT_EQ(Await(service_->GetPolicy({"p", "x"})).error().code, Code::kNotFound);
  EXPECT_EQ(Await(service_->SetPolicy({"p", "x"}, Viewer("allUsers"), {})).error().code, Code::kNotFound);
}

TEST_F(JobServiceTest, OfManyPoliciesWithOneEtagOneIsSet) {
  ASSERT_TRUE(Create(MakeJob("j")));
  const std::string etag = Await(service_->GetPolicy({"p", "j"}))->etag();
  int set = 0;
  int done = 0;
  for (int i = 0; i < 10; ++i) {
    boost::asio::co_spawn(loop_.context, service_->SetPolicy({"p", "j"}, Viewer("user:a@b.c", etag), {}),
                          [&](const std::exception_ptr&, const Result<iam::v1::Policy>& policy) {
                            ++done;
                            if (policy) ++set;
                          });
  }
  ASSERT_TRUE(RunUntil([&done] { return done == 10; }));
  EXPECT_EQ(set, 1);
}

TEST_F(JobServiceTest, AnEndedJobIsPatchedAndItsCancelIsRefused) {
  ASSERT_TRUE(Create(MakeJob("j")));
  EndJob("j");
  const std::size_t events = EventNames("j").size();
  EXPECT_EQ(
      Cancel("j").error(),
      FailedPrecondition("The job j cannot be cancelled: it has ended, and its state is CANCELLED.", "name"));
  EXPECT_THAT(EventNames("j"), testing::SizeIs(events));
  ASSERT_TRUE(Patch("j", Labelled("late"), "labels"));
  EXPECT_EQ(Get("j").labels().at("key"), "late");
  EXPECT_EQ(Patch("j", Labelled("x", "1"), "labels,etag").error().code, Code::kAborted);
}

TEST_F(JobServiceTest, PatchesOfAnEndedJobAtOnceAllSucceed) {
  ASSERT_TRUE(Create(MakeJob("j")));
  EndJob("j");
  int succeeded = 0;
  int done = 0;
  for (int i = 0; i < 10; ++i) {
    boost::asio::co_spawn(loop_.context, service_->Patch({"p", "j"}, Labelled("v"), "labels"),
                          [&](const std::exception_ptr&, const Result<Job>& patched) {
                            ++done;
                            if (patched) ++succeeded;
                          });
  }
  ASSERT_TRUE(RunUntil([&done] { return done == 10; }));
  EXPECT_EQ(succeeded, 10);
}

TEST_F(JobServiceTest, OfManyCreatedAtOnceNoneIsBeyondTheQuota) {
  KillServer();
  quotas_ = placement::Quotas::Parse(Names{"project:*:unfinished-jobs=2"}).value();
  StartServer();
  int created = 0;
  int done = 0;
  for (int i = 0; i < 10; ++i) {
    boost::asio::co_spawn(loop_.context, service_->Create("p", MakeJob("j" + std::to_string(i))),
                          [&](const std::exception_ptr&, const Result<Job>& made) {
                            ++done;
                            if (made) ++created;
                          });
  }
  ASSERT_TRUE(RunUntil([&done] { return done == 10; }));
  EXPECT_EQ(created, 2);
}

/// The job is in the store before its Create has returned.
TEST_F(JobServiceTest, CancelsThatOvertakeTheCreateAreNotLost) {
  for (int i = 0; i < 50; ++i) {
    const std::string job_id = "j" + std::to_string(i);
    int done = 0;
    boost::asio::co_spawn(loop_.context, service_->Create("p", MakeJob(job_id)),
                          [&done](const std::exception_ptr&, const Result<Job>&) { ++done; });
    while (!Cancel(job_id)) {
    }
    ASSERT_TRUE(RunUntil([&done] { return done == 1; }));
    ASSERT_TRUE(RunUntil([&] { return Record(job_id).job().state() == Job::CANCELLED; }));
  }
}

/// When a client disconnects, its coroutine is destroyed.
TEST_F(JobServiceTest, AClientThatGoesAwayWhileItCancels) {
  ASSERT_TRUE(Create(MakeJob("j")));
  ASSERT_TRUE(WaitForState("j", Job::RUNNING));
  store_.full = true;
  replicas_->End("1-master-replica-0-1", Exit(0));
  ASSERT_TRUE(RunUntil([this] { return store_.refused > 1; }));
  store_.full = false;
  auto client = std::make_unique<boost::asio::cancellation_signal>();
  bool gone = false;
  boost::asio::co_spawn(
      loop_.context, service_->Patch({"p", "j"}, Labelled("v"), "labels"),
      boost::asio::bind_cancellation_slot(
          client->slot(), [&gone](const std::exception_ptr&, const Result<Job>&) { gone = true; }));
  client->emit(boost::asio::cancellation_type::terminal);
  ASSERT_TRUE(RunUntil([&gone] { return gone; }));
  ASSERT_TRUE(WaitForEnd("j", Job::SUCCEEDED));
}

TEST_F(JobServiceTest, ListsNewestFirstInPages) {
  for (const char* job_id : {"a", "b", "c", "d", "e"}) ASSERT_TRUE(Create(MakeJob(job_id)));
  EXPECT_THAT(Ids({}), ElementsAre("e", "d", "c", "b", "a"));
  EXPECT_EQ(token_, "");
  EXPECT_THAT(Ids({.page_size = 2}), ElementsAre("e", "d"));
  EXPECT_THAT(Ids({.page_size = 2, .page_token = token_}), ElementsAre("c", "b"));
  EXPECT_THAT(Ids({.page_size = 2, .page_token = token_}), ElementsAre("a"));
  EXPECT_EQ(token_, "");
}

TEST_F(JobServiceTest, APageOfLargeJobsEndsEarly) {
  ml::v1::Job large = MakeJob("x");
  large.mutable_training_input()->clear_args();
  large.mutable_training_input()->add_args(std::string(60'000, 'a'));
  for (int i = 0; i < 40; ++i) {
    large.set_job_id("x" + std::to_string(i));
    ASSERT_TRUE(Create(large));
  }
  EXPECT_THAT(Ids({.page_size = 100}), testing::SizeIs(25));
  EXPECT_THAT(Ids({.page_size = 100, .page_token = token_}), testing::SizeIs(15));
  EXPECT_EQ(token_, "");
}

TEST_F(JobServiceTest, ListFilters) {
  for (const char* job_id : {"a", "b", "c", "d", "e"}) ASSERT_TRUE(Create(MakeJob(job_id)));
  EndJob("b");
  EndJob("d");
  EXPECT_THAT(Ids({.filter = "state=CANCELLED"}), ElementsAre("d", "b"));
  EXPECT_THAT(Ids({.page_size = 1, .filter = "state=CANCELLED"}), ElementsAre("d"));
  EXPECT_THAT(Ids({.page_size = 1, .page_token = token_, .filter = "state=CANCELLED"}), ElementsAre("b"));
  EXPECT_THAT(Ids({.filter = "jobId=c"}), ElementsAre("c"));
}

TEST_F(JobServiceTest, ListRefuses) {
  auto refused = [this](JobService::ListQuery query) {
    query.project = "p";
    return Await(service_->List(std::move(query))).error();
  };
  EXPECT_EQ(refused({.page_size = -1}).field, "page_size");
  EXPECT_EQ(refused({.page_token = "garbage"}).field, "page_token");
  EXPECT_EQ(refused({.filter = "state=("}).code, Code::kInvalidArgument);
  EXPECT_EQ(refused({.filter = "nothing=1"}).code, Code::kInvalidArgument);
}

TEST_F(JobServiceTest, PageTokensAreGoodForTheirFilterOnly) {
  for (const char* job_id : {"a", "b", "c"}) ASSERT_TRUE(Create(MakeJob(job_id)));
  EXPECT_THAT(Ids({.page_size = 1, .filter = "jobId:*"}), ElementsAre("c"));
  const std::string token = token_;
  const auto code = [this](std::string page_token, std::string filter) {
    JobService::ListQuery query{
        .project = "p", .page_size = 1, .page_token = std::move(page_token), .filter = std::move(filter)};
    const auto page = Await(service_->List(std::move(query)));
    return page ? "" : page.error().field;
  };
  EXPECT_EQ(code(token, "jobId:*"), "");
  EXPECT_EQ(code(token, ""), "page_token");
  EXPECT_EQ(code(token, "jobId:a*"), "page_token");
  std::string tampered = token;
  tampered[0] = tampered[0] == 'A' ? 'B' : 'A';
  EXPECT_EQ(code(tampered, "jobId:*"), "page_token");
}

TEST_F(JobServiceTest, JobsOlderThanNinetyDaysAreKeptButNotListed) {
  ASSERT_TRUE(Create(MakeJob("old")));
  clock_.Advance(std::chrono::days(10));
  ASSERT_TRUE(Create(MakeJob("young")));
  EXPECT_THAT(Ids({}), ElementsAre("young", "old"));
  clock_.Advance(std::chrono::days(80) + std::chrono::seconds(1));
  EXPECT_THAT(Ids({}), ElementsAre("young"));
  EXPECT_EQ(token_, "");
  EXPECT_THAT(Ids({.page_size = 1}), ElementsAre("young"));
  EXPECT_EQ(Get("old").job_id(), "old");
}

TEST_F(JobServiceTest, HelloNeedsTheAttemptsToken) {
  ASSERT_TRUE(Create(MakeJob("j")));
  ASSERT_TRUE(WaitForState("j", Job::RUNNING));
  auto link = std::make_shared<RecordingLink>();
  engine::FromReplica::Hello hello;
  hello.set_attempt_id("1-master-replica-0-1");
  hello.set_phase(replica::v1::RUNNING);
  for (const std::string& token :
       {std::string(), std::string("wrong"), AttemptToken(settings_, "1-master-replica-0-2")}) {
    hello.set_token(token);
    Status accepted = service_->gateway().OnHello(link, hello);
    ASSERT_FALSE(accepted);
    EXPECT_EQ(accepted.error().code, Code::kUnauthenticated);
  }
  EXPECT_THAT(link->sent, testing::IsEmpty());
  hello.set_token(AttemptToken(settings_, "1-master-replica-0-1"));
  EXPECT_TRUE(service_->gateway().OnHello(link, hello));
}

TEST_F(JobServiceTest, AnAttemptOfAnEndedJobIsSentAway) {
  ASSERT_TRUE(Create(MakeJob("j")));
  EndJob("j");
  auto link = std::make_shared<RecordingLink>();
  engine::FromReplica::Hello hello;
  hello.set_attempt_id("1-master-replica-0-1");
  hello.set_token(AttemptToken(settings_, hello.attempt_id()));
  hello.set_phase(replica::v1::ENDED);
  ASSERT_TRUE(service_->gateway().OnHello(link, hello));
  ASSERT_THAT(link->sent, testing::SizeIs(1));
  EXPECT_TRUE(link->sent[0].has_dismiss());

  link->sent.clear();
  hello.set_phase(replica::v1::RUNNING);  // it should not exist at all
  ASSERT_TRUE(service_->gateway().OnHello(link, hello));
  engine::FromReplica log;
  log.mutable_log()->set_first_line(5);
  log.mutable_log()->set_line_count(3);
  loop_.Run([](JobService& service, auto to, engine::FromReplica frame) -> boost::asio::awaitable<bool> {
    co_await service.gateway().OnFrame(to, "1-master-replica-0-1", frame);
    engine::FromReplica exit;
    exit.mutable_exit();
    co_await service.gateway().OnFrame(to, "1-master-replica-0-1", exit);
    co_return true;
  }(*service_, link, log));
  ASSERT_THAT(link->sent, testing::SizeIs(3));
  EXPECT_TRUE(link->sent[0].stop().kill());
  EXPECT_EQ(link->sent[1].log_ack().next_line(), 8);
  EXPECT_TRUE(link->sent[2].has_dismiss());
}

TEST_F(JobServiceTest, LinesThatCannotBeStoredAreReplacedAndAcknowledged) {
  ASSERT_TRUE(Create(MakeJob("j")));
  ASSERT_TRUE(WaitForState("j", Job::RUNNING));
  auto link = std::make_shared<RecordingLink>();
  engine::FromReplica::Hello hello;
  hello.set_attempt_id("1-master-replica-0-1");
  hello.set_token(AttemptToken(settings_, hello.attempt_id()));
  hello.set_phase(replica::v1::RUNNING);
  ASSERT_TRUE(service_->gateway().OnHello(link, hello));
  engine::FromReplica frame;
  frame.mutable_log()->set_line_count(2);
  frame.mutable_log()->set_lines("garbage");
  loop_.Run([](JobService& service, auto to, engine::FromReplica log) -> boost::asio::awaitable<bool> {
    co_await service.gateway().OnFrame(to, "1-master-replica-0-1", log);
    co_return true;
  }(*service_, link, frame));
  ASSERT_THAT(link->sent, testing::SizeIs(1));
  EXPECT_EQ(link->sent[0].log_ack().next_line(), 2);
  EXPECT_FALSE(link->closed);
  EXPECT_THAT(Lines("j", "master-replica-0"),
              ElementsAre(HasSubstr("Lines 1 to 2 are not in this log: malformed log chunk"), ""));
}

TEST_F(JobServiceTest, LinesWaitForAFullDisk) {
  replicas_->SetScript([](const Manifest&) { return FakeScript{.lines = {"a"}, .exit = std::nullopt}; });
  ASSERT_TRUE(Create(MakeJob("j")));
  ASSERT_TRUE(WaitForState("j", Job::RUNNING));
  logs_->full = true;
  ASSERT_TRUE(Create(MakeJob("k")));
  ASSERT_TRUE(WaitForState("k", Job::RUNNING));
  ASSERT_TRUE(RunUntil([this] { return logs_->refused > 3; }));
  logs_->full = false;
  replicas_->Reconnect("2-master-replica-0-1");
  ASSERT_TRUE(RunUntil([this] { return Lines("k", "master-replica-0").size() == 1; }));
}

}  // namespace
}  // namespace trainyard::control
