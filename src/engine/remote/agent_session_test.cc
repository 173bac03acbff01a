#include "engine/remote/agent_session.h"

#include <gmock/gmock.h>
#include <sys/socket.h>

#include <deque>
#include <map>
#include <optional>

#include "base/async/task_group.h"
#include "engine/testing/loop.h"
#include "programs/attempt/frame.h"

namespace trainyard::engine {
namespace {

using agent::v1::AttemptFound;
using boost::asio::awaitable;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr const char* kAgent = "7-1-1/0";
constexpr const char* kAttempt = "7-master-replica-0-1";

/// Gives slot 0 to every agent with the ticket "good".
class Slots final : public SlotKeeper {
 public:
  awaitable<Result<std::string>> TakeSlot(FromAgent::Hello hello, AgentOrigin) override {
    if (hello.ticket() == "later") co_return std::unexpected(Unavailable("the disk is full"));
    if (hello.ticket() != "good")
      co_return std::unexpected(Error{Code::kPermissionDenied, "The ticket is void.", {}});
    co_return kAgent;
  }
  void OnAttached(const std::string& agent) override { told.push_back("came " + agent); }
  void OnTimeLimit(const std::string& agent) override { told.push_back("limit " + agent); }
  void OnDetached(const std::string& agent, mux::Ending ending) override {
    told.push_back("left " + agent + (ending == mux::Ending::kSilent ? ", silent" : ""));
  }
  [[nodiscard]] bool MayLive(const std::string&) const override { return may_live; }

  std::vector<std::string> told;
  bool may_live = true;
};

/// A stream that accepts everything and sends nothing.
class DeafStream final : public mux::Stream {
 public:
  awaitable<Result<std::size_t>> Read(std::span<char>) override { co_return std::size_t{0}; }
  awaitable<Status> Write(std::string_view) override { co_return Status(); }
  void CloseWrite() override {}
  void Reset() override {}
};

awaitable<void> Keep(awaitable<Result<AgentLink::Answers>> asked,
                     std::optional<Result<AgentLink::Answers>>& answers) {
  answers.emplace(co_await std::move(asked));
}

using Attempts = std::map<std::string, AttemptFound::State>;

/// An agent that answers as the test tells it.
class FakeAgent {
 public:
  FakeAgent(Loop& loop, int end) : loop_(loop.context.get_executor()), tasks_(loop_) {
    http::StreamSocket socket(loop_);
    socket.assign(boost::asio::generic::stream_protocol(AF_UNIX, SOCK_STREAM), end);
    session_ = std::make_unique<mux::Session>(loop_, http::MakePlainTransport(std::move(socket)),
                                              mux::Session::Side::kOpens, mux::Session::Options{});
    tasks_.Spawn(Run());
    control_ = session_->Open("/agent/v1/control");
    tasks_.Spawn(Read());
  }
  void Send(const FromAgent& frame) {
    std::string bytes;
    replica::AppendFrame(frame, bytes);
    tasks_.Spawn(Write(std::move(bytes)));
  }
  void Hello(const std::string& ticket, int protocol = agent::v1::PROTOCOL_1) {
    FromAgent frame;
    FromAgent::Hello& hello = *frame.mutable_hello();
    hello.set_protocol(static_cast<agent::v1::Protocol>(protocol));
    hello.set_ticket(ticket);
    hello.mutable_node()->set_name("node1");
    for (const auto& [id, state] : attempts) {
      AttemptFound& found = *hello.add_attempts();
      found.set_attempt_id(id);
      found.set_state(state);
    }
    Send(frame);
  }
  void Answer(FromAgent::Answer answer) {
    FromAgent frame;
    *frame.mutable_answer() = std::move(answer);
    Send(frame);
  }
  std::shared_ptr<mux::Stream> Open(const std::string& path) { return session_->Open(path); }
  void Close() { session_->Close(); }

  Attempts attempts;
  std::deque<ToAgent> heard;
  bool over = false;

 private:
  awaitable<void> Run() {
    co_await session_->Run();
    over = true;
  }
  awaitable<void> Write(std::string bytes) { std::ignore = co_await control_->Write(bytes); }
  awaitable<void> Read() {
    replica::FrameReader frames;
    std::string buffer(10'000, '\0');
    for (;;) {
      const Result<std::size_t> size = co_await control_->Read(buffer);
      if (!size || *size == 0) co_return;
      frames.Feed(std::string_view(buffer).substr(0, *size));
      std::string_view content;
      while (frames.Next(content).value_or(false)) {
        heard.emplace_back();
        heard.back().ParseFromArray(content.data(), static_cast<int>(content.size()));
      }
    }
  }

  boost::asio::any_io_executor loop_;
  std::unique_ptr<mux::Session> session_;
  std::shared_ptr<mux::Stream> control_;
  TaskGroup tasks_;
};

class AgentSessionTest : public testing::Test {
 protected:
  AgentSessionTest() {
    host_.SetOnGone([this](const std::string& attempt) { gone_.push_back(attempt); });
  }
  std::unique_ptr<FakeAgent> Connect() {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
    http::StreamSocket socket(loop_.context);
    socket.assign(boost::asio::generic::stream_protocol(AF_UNIX, SOCK_STREAM), ends[0]);
    tasks_.Spawn(ServeAgent(loop_.context.get_executor(),
                            {.transport = http::MakePlainTransport(std::move(socket)),
                             .from = {},
                             .budget = &budget_,
                             .unproven = unproven_},
                            desk_));
    return std::make_unique<FakeAgent>(loop_, ends[1]);
  }
  std::unique_ptr<FakeAgent> Admitted(Attempts attempts = {}) {
    std::unique_ptr<FakeAgent> agent = Connect();
    agent->attempts = std::move(attempts);
    agent->Hello("good");
    EXPECT_TRUE(loop_.RunUntil([&] { return !agent->heard.empty(); }));
    EXPECT_TRUE(agent->heard.front().has_welcome());
    agent->heard.pop_front();
    return agent;
  }
  /// The next request that the agent receives.
  ToAgent::Request Heard(FakeAgent& agent) {
    EXPECT_TRUE(loop_.RunUntil([&] { return !agent.heard.empty(); }));
    if (agent.heard.empty()) return {};
    ToAgent frame = agent.heard.front();
    agent.heard.pop_front();
    return frame.request();
  }
  template <class Value>
  void Begin(awaitable<Value> work, std::optional<Value>& done) {
    tasks_.Spawn(Await(std::move(work), done));
  }
  template <class Value>
  static awaitable<void> Await(awaitable<Value> work, std::optional<Value>& done) {
    done.emplace(co_await std::move(work));
  }
  void Start(FakeAgent& agent) {
    Manifest manifest;
    manifest.set_attempt_id(kAttempt);
    Slot slot;
    slot.set_agent(kAgent);
    std::optional<Status> started;
    Begin(host_.Start(manifest, slot), started);
    const ToAgent::Request request = Heard(agent);
    EXPECT_EQ(request.start().manifest().attempt_id(), kAttempt);
    FromAgent::Answer answer;
    answer.set_request(request.request());
    agent.Answer(answer);
    ASSERT_TRUE(loop_.RunUntil([&] { return started.has_value(); }));
    EXPECT_TRUE(*started);
  }

  Loop loop_;
  Slots slots_;
  http::ConnectionBudget budget_{{.connections_max = 2, .known_peer_max = 2}};
  std::shared_ptr<int> unproven_ = std::make_shared<int>();
  RemoteAttemptHost host_{loop_.context.get_executor(),
                          [this](const std::string& agent) { return slots_.MayLive(agent); }};
  std::vector<std::string> relayed_;
  std::vector<std::shared_ptr<mux::Stream>> streams_;
  AgentDesk desk_{.slots = slots_,
                  .host = host_,
                  .welcome = {},
                  .relay = [this](RelayedConnection connection, std::shared_ptr<mux::Stream> stream) {
                    relayed_.push_back(connection.attempt_id);
                    streams_.push_back(std::move(stream));
                  }};
  std::vector<std::string> gone_;
  const AttemptRef ref_{.id = kAttempt, .node = "node1", .agent = kAgent};
  TaskGroup tasks_{loop_.context.get_executor()};
};

TEST_F(AgentSessionTest, AnAgentWithoutAValidTicketIsToldToEnd) {
  const auto agent = Connect();
  agent->Hello("bad");
  ASSERT_TRUE(loop_.RunUntil([&] { return !agent->heard.empty(); }));
  EXPECT_EQ(agent->heard.front().refused().reason(), "The ticket is void.");
  agent->Close();
  EXPECT_TRUE(loop_.RunUntil([&] { return agent->over; }));
  EXPECT_THAT(slots_.told, IsEmpty());
}

TEST_F(AgentSessionTest, AServerThatCannotTakeItNowHangsUpAndRefusesNothing) {
  const auto agent = Connect();
  agent->Hello("later");
  ASSERT_TRUE(loop_.RunUntil([&] { return agent->over; }));
  EXPECT_THAT(agent->heard, IsEmpty());
}

TEST_F(AgentSessionTest, WhoHasNoSlotYetMakesRoomForOthersAndWhoHasOneStays) {
  const auto agent = Admitted();
  EXPECT_EQ(unproven_.use_count(), 1);
  const auto silent = Connect();
  ASSERT_TRUE(loop_.RunUntil([&] { return budget_.size() == 2; }));
  EXPECT_EQ(unproven_.use_count(), 2);
  EXPECT_TRUE(budget_.MakeRoom({})) << "the one that has said nothing is closed";
  EXPECT_TRUE(loop_.RunUntil([&] { return silent->over && unproven_.use_count() == 1; }));
  EXPECT_FALSE(agent->over);
  EXPECT_FALSE(budget_.CloseOne()) << "the other one is not";
}

TEST_F(AgentSessionTest, ANewerProtocolIsRefused) {
  const auto agent = Connect();
  agent->Hello("good", agent::v1::PROTOCOL_1 + 1);
  ASSERT_TRUE(loop_.RunUntil([&] { return !agent->heard.empty(); }));
  EXPECT_TRUE(agent->heard.front().has_refused());
}

TEST_F(AgentSessionTest, NothingIsRelayedBeforeTheAgentHasItsSlot) {
  const auto agent = Connect();
  const auto early = agent->Open("/agent/v1/attach");
  agent->Hello("good");
  ASSERT_TRUE(loop_.RunUntil([&] { return !agent->heard.empty(); }));
  EXPECT_THAT(relayed_, IsEmpty());
}

TEST_F(AgentSessionTest, RelayedConnectionsSayWhoseTheyAreAndNobodyElses) {
  const auto agent = Admitted();
  const auto mine = agent->Open(std::string("/agent/v1/replica/") + kAttempt);
  const auto others = agent->Open("/agent/v1/replica/8-master-replica-0-1");
  const auto nonsense = agent->Open("/agent/v1/replica/../x");
  const auto attach = agent->Open("/agent/v1/attach");
  ASSERT_TRUE(loop_.RunUntil([&] { return relayed_.size() == 2; }));
  EXPECT_THAT(relayed_, ElementsAre(kAttempt, ""));
}

TEST_F(AgentSessionTest, WhatItsHostKnowsIsAsked) {
  const auto agent = Admitted();
  EXPECT_THAT(slots_.told, ElementsAre("came 7-1-1/0"));
  Start(*agent);
  std::optional<Result<AttemptHost::Remains>> remains;
  Begin(host_.Collect(ref_, 5), remains);
  const ToAgent::Request request = Heard(*agent);
  EXPECT_EQ(request.collect().from_line(), 5);
  FromAgent::Answer exit;
  exit.set_request(request.request());
  exit.mutable_exit()->set_exit_code(4);
  agent->Answer(exit);
  FromAgent::Answer chunk;
  chunk.set_request(request.request());
  chunk.mutable_chunk()->set_first_line(5);
  chunk.set_last(true);
  agent->Answer(chunk);
  ASSERT_TRUE(loop_.RunUntil([&] { return remains.has_value(); }));
  ASSERT_TRUE(*remains);
  EXPECT_EQ((*remains)->exit.exit_code(), 4);
  ASSERT_EQ((*remains)->chunks.size(), 1U);
  EXPECT_EQ((*remains)->chunks[0].first_line(), 5);
}

TEST_F(AgentSessionTest, WhoAsksForAnAbsentAgentIsAnsweredWhenItIsBack) {
  auto agent = Admitted();
  Start(*agent);
  std::optional<Status> killed;
  Begin(host_.Kill(ref_), killed);
  EXPECT_EQ(Heard(*agent).kill(), kAttempt);
  agent->Close();  // while the request is under way
  ASSERT_TRUE(loop_.RunUntil([&] { return slots_.told.size() == 2; }));
  EXPECT_FALSE(killed);
  agent = Admitted({{kAttempt, AttemptFound::ALIVE}});
  const ToAgent::Request again = Heard(*agent);
  EXPECT_EQ(again.kill(), kAttempt);
  FromAgent::Answer answer;
  answer.set_request(again.request());
  agent->Answer(answer);
  ASSERT_TRUE(loop_.RunUntil([&] { return killed.has_value(); }));
  EXPECT_TRUE(*killed);
  EXPECT_THAT(gone_, IsEmpty());
}

TEST_F(AgentSessionTest, WhatEndedDuringAnAbsenceIsGone) {
  auto agent = Admitted();
  Start(*agent);
  agent->Close();
  ASSERT_TRUE(loop_.RunUntil([&] { return slots_.told.size() == 2; }));
  agent = Admitted();
  EXPECT_TRUE(loop_.RunUntil([&] { return !gone_.empty(); }));
  EXPECT_THAT(gone_, ElementsAre(kAttempt));
}

TEST_F(AgentSessionTest, WhatEndedIsListedUntilItIsForgotten) {
  const AttemptRef listed{.id = kAttempt, .agent = kAgent};
  auto agent = Admitted();
  Start(*agent);
  agent->Close();
  ASSERT_TRUE(loop_.RunUntil([&] { return slots_.told.size() == 2; }));
  agent = Admitted({{kAttempt, AttemptFound::ENDED}});
  EXPECT_THAT(gone_, ElementsAre(kAttempt));
  EXPECT_THAT(*loop_.Run(host_.List()), ElementsAre(listed));
  std::optional<Status> forgotten;
  Begin(host_.Forget(ref_), forgotten);
  FromAgent::Answer answer;
  answer.set_request(Heard(*agent).request());
  agent->Answer(answer);
  ASSERT_TRUE(loop_.RunUntil([&] { return forgotten.has_value(); }));
  EXPECT_THAT(*loop_.Run(host_.List()), IsEmpty());
}

TEST_F(AgentSessionTest, WhoIsNotKnownYetMakesTheServerKeepLittle) {
  const auto agent = Connect();
  FromAgent frame;
  frame.mutable_hello()->set_ticket(std::string(kHelloBytesMax, 'x'));
  agent->Send(frame);
  EXPECT_TRUE(loop_.RunUntil([&] { return agent->over; }));
  EXPECT_THAT(agent->heard, IsEmpty());
}

TEST_F(AgentSessionTest, AnAgentThatCannotTellTheStateIsNoProofOfAnEnd) {
  const auto agent = Admitted();
  std::optional<Inspection> inspected;
  Begin(host_.Inspect(ref_), inspected);
  FromAgent::Answer answer;
  answer.set_request(Heard(*agent).request());
  answer.set_code(static_cast<int>(Code::kUnavailable));
  answer.set_message("there are too few descriptors to find out");
  agent->Answer(answer);
  ASSERT_TRUE(loop_.RunUntil([&] { return inspected.has_value(); }));
  EXPECT_EQ(inspected->state, AttemptState::kUnknown);
  EXPECT_EQ(inspected->why, answer.message());
}

TEST_F(AgentSessionTest, AnAnswerThatNobodyAskedToBeLongEndsTheConnection) {
  const auto agent = Admitted();
  std::optional<Inspection> inspected;
  Begin(host_.Inspect(ref_), inspected);
  FromAgent::Answer answer;
  answer.set_request(Heard(*agent).request());
  answer.set_message(std::string(kAnswerBytesMax, 'x'));
  agent->Answer(answer);
  EXPECT_TRUE(loop_.RunUntil([&] { return agent->over; }));
  slots_.may_live = false;
  host_.SetDead("7-1-1/");
  EXPECT_TRUE(loop_.RunUntil([&] { return inspected.has_value(); }));
}

TEST(AgentLink, KeepsNoMoreOfWhatAnAttemptLeftThanASupervisorDoes) {
  Loop loop;
  AgentLink link(loop.context.get_executor(), std::make_shared<DeafStream>());
  std::optional<Result<AgentLink::Answers>> answers;
  ToAgent::Request request;
  request.mutable_collect()->set_attempt_id(kAttempt);
  TaskGroup tasks(loop.context.get_executor());
  tasks.Spawn(Keep(link.Ask(request), answers));
  FromAgent::Answer answer;
  answer.set_request(1);
  answer.mutable_chunk()->set_lines(std::string(std::size_t{8} << 20, 'x'));
  std::size_t told = 0;
  for (; told < 2 * kCollectBytesMax && !answers; told += answer.chunk().lines().size()) {
    link.OnAnswer(answer);
    loop.Poll();
  }
  ASSERT_TRUE(answers);
  ASSERT_FALSE(*answers);
  EXPECT_EQ(answers->error().code, Code::kResourceExhausted);
  EXPECT_LE(told, kCollectBytesMax + answer.chunk().lines().size());
  EXPECT_FALSE(link.is_closed()) << "other questions are answered";
}

TEST_F(AgentSessionTest, SaysNothingOfOthersAttempts) {
  constexpr const char* kOthers = "8-master-replica-0-1";
  const auto agent = Admitted({{kOthers, AttemptFound::ALIVE}});
  EXPECT_THAT(*loop_.Run(host_.List()), IsEmpty());
  FromAgent frame;
  frame.mutable_gone()->set_attempt_id(kOthers);
  agent->Send(frame);
  frame.mutable_gone()->set_attempt_id(kAttempt);
  agent->Send(frame);
  ASSERT_TRUE(loop_.RunUntil([&] { return !gone_.empty(); }));
  EXPECT_THAT(gone_, ElementsAre(kAttempt));
}

TEST_F(AgentSessionTest, SupervisorsOfOneAgentLeaveRoomForThoseOfOthers) {
  const auto agent = Admitted();
  std::vector<std::shared_ptr<mux::Stream>> attaches;
  for (int i = 0; i < 40; ++i) attaches.push_back(agent->Open("/agent/v1/attach"));
  const auto last = agent->Open(std::string("/agent/v1/replica/") + kAttempt);
  ASSERT_TRUE(loop_.RunUntil([&] { return !relayed_.empty() && relayed_.back() == kAttempt; }));
  EXPECT_EQ(relayed_.size(), 32U + 1);
}

TEST_F(AgentSessionTest, WhatAnAgentSaysIsGoneIsToldOnce) {
  const auto agent = Admitted();
  Start(*agent);
  FromAgent frame;
  frame.mutable_gone()->set_attempt_id(kAttempt);
  agent->Send(frame);
  ASSERT_TRUE(loop_.RunUntil([&] { return !gone_.empty(); }));
  host_.SetDead("7-1-1/");
  EXPECT_THAT(gone_, ElementsAre(kAttempt));
}

TEST_F(AgentSessionTest, ADeadAgentsAttemptsAreLostWithTheirLines) {
  auto agent = Admitted();
  Start(*agent);
  agent->Close();
  ASSERT_TRUE(loop_.RunUntil([&] { return slots_.told.size() == 2; }));
  std::optional<Inspection> inspected;
  Begin(host_.Inspect(ref_), inspected);
  loop_.context.poll();
  EXPECT_FALSE(inspected);
  slots_.may_live = false;
  host_.SetDead("7-1-1/");
  ASSERT_TRUE(loop_.RunUntil([&] { return inspected.has_value(); }));
  EXPECT_EQ(inspected->state, AttemptState::kLost);
  EXPECT_THAT(gone_, ElementsAre(kAttempt));
  const auto remains = loop_.Run(host_.Collect(ref_, 17));
  ASSERT_TRUE(remains);
  EXPECT_EQ(remains->exit.cause(), ExitRecord::LOST);
  EXPECT_TRUE(remains->exit.log_lost());
  EXPECT_THAT(remains->exit.message(), testing::HasSubstr("after line 17"));
  EXPECT_TRUE(loop_.Run(host_.Forget(ref_)));
}

TEST_F(AgentSessionTest, NothingStartsWhereTheAgentIsAway) {
  Slot slot;
  slot.set_agent(kAgent);
  slot.set_node("node1");
  const Status started = loop_.Run(host_.Start(Manifest(), slot));
  EXPECT_EQ(started.error().code, Code::kUnavailable);
  EXPECT_EQ(started.error().message, "the agent on node1 is away");
  const AttemptRef never{.id = "", .node = "node1", .agent = kAgent};
  EXPECT_EQ(loop_.Run(host_.Inspect(never)).state, AttemptState::kAbsent) << "and nobody waits for the agent";
  EXPECT_TRUE(loop_.Run(host_.Forget(never)));
}

TEST(ParseRelayPath, KnowsThePurposes) {
  EXPECT_EQ(ParseRelayPath("/agent/v1/attach")->purpose, RelayPurpose::kAttach);
  EXPECT_EQ(ParseRelayPath("/agent/v1/front/7-master-replica-0-1")->purpose, RelayPurpose::kFront);
  EXPECT_EQ(ParseRelayPath("/agent/v1/front-tls/7-master-replica-0-1")->purpose, RelayPurpose::kFrontTls);
  EXPECT_FALSE(ParseRelayPath("/agent/v1/front/"));
  EXPECT_FALSE(ParseRelayPath("/agent/v1/else/7-master-replica-0-1"));
}

}  // namespace
}  // namespace trainyard::engine
