#include "base/async/name_lookup.h"

#include <gmock/gmock.h>

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <latch>
#include <map>
#include <string>
#include <utility>

#include "base/async/guarded.h"
#include "base/async/task_group.h"

namespace trainyard {
namespace {

using asio::ip::make_address;
using std::chrono::seconds;

TEST(HostAddresses, OfNumbersAndNames) {
  EXPECT_THAT(HostAddresses("10.0.0.7").value(), testing::ElementsAre(make_address("10.0.0.7")));
  EXPECT_THAT(HostAddresses("localhost").value(), testing::Contains(make_address("127.0.0.1")));
  for (const std::string& host : {std::string("nobody.invalid"), std::string(300, 'x')})
    EXPECT_EQ(HostAddresses(host).error().code, Code::kUnavailable) << host;
}

/// A resolver that counts what it is asked. It answers nothing about the held names until they are released.
class FakeResolver {
 public:
  explicit FakeResolver(std::size_t held) : held_(static_cast<std::ptrdiff_t>(held)) {}

  NameLookup::Answer Resolve(const std::string& host) {
    const int asked = asked_.With([&](auto& counts) { return ++counts[host]; });
    if (host.starts_with("held")) {
      held_.count_down();
      released_.wait();
    }
    if (host.starts_with("unknown")) return std::unexpected(Unavailable("unknown host"));
    return std::vector{make_address("192.0.2." + std::to_string(asked))};
  }
  /// Returns once all held names have been asked for, each by its own thread.
  void WaitUntilAllAreHeld() const { held_.wait(); }
  void Release() { released_.count_down(); }
  [[nodiscard]] int CountOf(const std::string& host) const {
    return asked_.With([&](const auto& counts) {
      const auto found = counts.find(host);
      return found == counts.end() ? 0 : found->second;
    });
  }

 private:
  Guarded<std::map<std::string, int>> asked_;
  std::latch held_;
  std::latch released_{1};
};

class NameLookupTest : public testing::Test {
 protected:
  using Answers = std::vector<NameLookup::Answer>;

  explicit NameLookupTest(std::size_t held = 0) : resolver_(held) {}

  asio::awaitable<void> Ask(std::string host, Answers& answers) {
    NameLookup::Answer answer = co_await names_.Find(std::move(host));
    answers.push_back(std::move(answer));
  }
  /// The answers to `times` questions that are asked at the same time.
  Answers AskTogether(const std::string& host, int times) {
    Answers answers;
    TaskGroup tasks(loop_.get_executor());
    for (int i = 0; i < times; ++i) tasks.Spawn(Ask(host, answers));
    loop_.restart();
    while (tasks.size() > 0) loop_.run_one();
    return answers;
  }
  NameLookup::Answer AskFor(const std::string& host) { return AskTogether(host, 1).at(0); }

  asio::io_context loop_;
  std::chrono::steady_clock::time_point now_;
  FakeResolver resolver_;
  NameLookup names_{loop_.get_executor(),
                    {.resolve = [this](const std::string& host) { return resolver_.Resolve(host); },
                     .now = [this] { return now_; }}};
};

TEST_F(NameLookupTest, AsksOnceForAllThatAskAtTheSameTime) {
  const Answers answers = AskTogether("index.example.com", 300);
  EXPECT_EQ(answers.size(), 300U);
  for (const auto& answer : answers) EXPECT_EQ(answer, std::vector{make_address("192.0.2.1")});
  EXPECT_EQ(resolver_.CountOf("index.example.com"), 1);
}

TEST_F(NameLookupTest, KeepsAnAnswerForAMinute) {
  ASSERT_TRUE(AskFor("index.example.com"));
  now_ += kAddressesKept - seconds(1);
  EXPECT_EQ(AskFor("Index.Example.com"), std::vector{make_address("192.0.2.1")}) << "names have no case";
  now_ += seconds(1);
  EXPECT_EQ(AskFor("index.example.com"), std::vector{make_address("192.0.2.2")});
}

TEST_F(NameLookupTest, KeepsAFailureForAShorterTime) {
  EXPECT_EQ(AskFor("unknown.example.com"), std::unexpected(Unavailable("unknown host")));
  now_ += kFailureKept - seconds(1);
  std::ignore = AskFor("unknown.example.com");
  EXPECT_EQ(resolver_.CountOf("unknown.example.com"), 1);
  now_ += seconds(1);
  std::ignore = AskFor("unknown.example.com");
  EXPECT_EQ(resolver_.CountOf("unknown.example.com"), 2);
}

TEST_F(NameLookupTest, AsksNobodyForAddresses) {
  EXPECT_EQ(AskFor("2001:db8::1"), std::vector{make_address("2001:db8::1")});
  EXPECT_EQ(resolver_.CountOf("2001:db8::1"), 0);
}

TEST_F(NameLookupTest, RemembersABoundedNumberOfNames) {
  for (std::size_t i = 0; i <= kNamesKeptMax + 1; ++i)
    ASSERT_TRUE(AskFor(std::to_string(i) + ".example.com"));
  ASSERT_TRUE(AskFor("0.example.com"));
  EXPECT_EQ(resolver_.CountOf("0.example.com"), 2) << "the first ones were forgotten";
}

constexpr std::size_t kHeld = kLookupsAtOnceMax - 1;

class HeldNameLookupTest : public NameLookupTest {
 protected:
  HeldNameLookupTest() : NameLookupTest(kHeld) {}
};

TEST_F(HeldNameLookupTest, AnAnswerThatIsLostDelaysOnlyThoseThatAskForThatName) {
  Answers held;
  TaskGroup tasks(loop_.get_executor());
  for (std::size_t i = 0; i < kHeld; ++i)
    for (int time = 0; time < 25; ++time) tasks.Spawn(Ask("held" + std::to_string(i), held));
  loop_.poll();
  resolver_.WaitUntilAllAreHeld();  // many names at a time
  EXPECT_TRUE(AskFor("index.example.com"));
  EXPECT_TRUE(held.empty());
  resolver_.Release();
  loop_.restart();
  while (tasks.size() > 0) loop_.run_one();
  EXPECT_EQ(held.size(), kHeld * 25);
  for (std::size_t i = 0; i < kHeld; ++i) EXPECT_EQ(resolver_.CountOf("held" + std::to_string(i)), 1);
}

}  // namespace
}  // namespace trainyard
