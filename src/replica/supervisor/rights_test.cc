#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <charconv>

#include "replica/supervisor/testing/attempt_fixture.h"

namespace trainyard::replica {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

/// The rights of a program, with each Isolation (sandbox.h) by its number.
class RightsTest : public AttemptFixture, public testing::WithParamInterface<int> {
 protected:
  RightsTest() { options_ = {"--isolation=" + std::to_string(GetParam())}; }
};

TEST_P(RightsTest, AreAContainersForRootAndNoneForOthers) {
  Program("grep -E '^(CapInh|CapPrm|CapEff|CapAmb|NoNewPrivs|Seccomp):' /proc/self/status | tr -s '\\t' ' '");
  Run();
  EXPECT_EQ(Finish().exit_code(), 0);
  const std::string kept = geteuid() == 0 ? "00000000800405fb" : "0000000000000000";
  EXPECT_THAT(UserLines(),
              ElementsAre("INFO CapInh: 0000000000000000", "INFO CapPrm: " + kept, "INFO CapEff: " + kept,
                          "INFO CapAmb: 0000000000000000", "INFO NoNewPrivs: 1", "INFO Seccomp: 2"));
}

TEST_P(RightsTest, MakeNoNamespaces) {
  Program("for kind in U m p n u i; do unshare -$kind true 2>/dev/null && echo made $kind; done; echo done");
  Run();
  EXPECT_EQ(Finish().exit_code(), 0);
  EXPECT_THAT(UserLines(), ElementsAre("INFO done"));
}

/// Waiting threads, up to 2,000: finds out how many are allowed.
constexpr const char* kThreads = R"(
import threading
threading.stack_size(32768)
done, count = threading.Event(), 0
try:
    while count < 2000:
        threading.Thread(target=done.wait, daemon=True).start()
        count += 1
except RuntimeError:
    pass
done.set()
print("started", count, flush=True)
)";

TEST_P(RightsTest, ProcessesAreBounded) {
  constexpr int kProcesses = 500;
  manifest_.mutable_limits()->set_pids(kProcesses);
  PythonProgram(kThreads);
  Run();
  EXPECT_EQ(Finish().exit_code(), 0);
  int started = 0;
  for (const std::string& line : UserLines()) {
    if (const std::size_t at = line.find("started "); at != std::string::npos)
      std::from_chars(line.data() + at + 8, line.data() + line.size(), started);
  }
  EXPECT_LT(started, kProcesses);
}

INSTANTIATE_TEST_SUITE_P(Isolations, RightsTest, testing::Values(0, 1, 2, 3));

}  // namespace
}  // namespace trainyard::replica
