#include "programs/runtimes/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainyard::replica {
namespace {

using testing::ElementsAre;

constexpr const char* kPlainPath = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

TEST(UserEnvironment, IsCleanByItself) {
  EXPECT_THAT(UserEnvironment({}), ElementsAre("LANG=C.UTF-8", kPlainPath, "PYTHONUNBUFFERED=1"));
}

TEST(UserEnvironment, LaterSourcesWinAndPathIsPrepended) {
  const VariableSources sources{.base = {{"HOME", "/h"}, {"A", "base"}},
                                .cluster = {{"A", "cluster"}, {"RANK", "0"}},
                                .environment = {{"PATH", "/env/bin"}, {"B", "environment"}},
                                .manifest = {{"B", "manifest"}, {"C", "manifest"}},
                                .channels = {{"C", "channels"}}};
  EXPECT_THAT(UserEnvironment(sources),
              ElementsAre("A=cluster", "B=manifest", "C=channels", "HOME=/h", "LANG=C.UTF-8",
                          "PATH=/env/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                          "PYTHONUNBUFFERED=1", "RANK=0"));
}

}  // namespace
}  // namespace trainyard::replica
