#include "replica/keeper/keeper_message.h"

#include <gmock/gmock.h>

namespace trainyard::keeper {
namespace {

using testing::ElementsAre;

constexpr const char* kProgram = "/usr/bin/trainyard";

StartRequest Supervisor() {
  StartRequest request;
  request.set_name("one");
  request.set_program(kProgram);
  for (const char* word : {"trainyard", "replica", "--descriptors=1024", "--isolation=0", "/data/attempts/a"})
    request.add_arguments(word);
  for (const std::uint32_t number : {1U, 2U, 3U}) request.add_numbers(number);
  return request;
}

TEST(AsSupervisor, IsWhatServersAskFor) {
  const auto started = AsSupervisor(Supervisor(), kProgram, {"PATH=/usr/bin"});
  ASSERT_TRUE(started) << started.error().message;
  StartRequest expected = Supervisor();
  expected.add_environment("PATH=/usr/bin");
  EXPECT_EQ(started->SerializeAsString(), expected.SerializeAsString());
}

TEST(AsSupervisor, IsNothingElse) {
  const auto is_refused = [](const auto& change) {
    StartRequest request = Supervisor();
    change(request);
    const auto started = AsSupervisor(std::move(request), kProgram, {});
    return !started && started.error().code == Code::kPermissionDenied;
  };
  EXPECT_TRUE(is_refused([](StartRequest& request) { request.set_program("/bin/sh"); }));
  EXPECT_TRUE(is_refused([](StartRequest& request) { request.set_program("/usr/bin/../bin/trainyard"); }));
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {},
           {"trainyard"},
           {"trainyard", "replica"},
           {"trainyard", "serve", "/data/attempts/a"},
           {"trainyard", "keeper", "--socket=/x", "/data/attempts/a"},
           {"trainyard", "replica", "a"},
           {"trainyard", "replica", "/data/../etc"},
           {"trainyard", "replica", "/data/.."},
           {"trainyard", "replica", "/../etc"},
           {"trainyard", "replica", "--remove-container", "/data/attempts/a"},
           {"trainyard", "replica", "--isolation=none", "/data/attempts/a"},
           {"trainyard", "replica", "--isolation=", "/data/attempts/a"},
           {"trainyard", "replica", "/data/attempts/a", "/data/attempts/b"},
           std::vector<std::string>(kArgumentsMax + 1, "replica")})
    EXPECT_TRUE(is_refused([&words](StartRequest& request) {
      request.mutable_arguments()->Assign(words.begin(), words.end());
    })) << testing::PrintToString(words);
}

TEST(AsSupervisor, HasTheKeepersVariablesAndTheServersSettingsOfBuilds) {
  StartRequest request = Supervisor();
  for (const char* line :
       {"PATH=/evil", "LD_PRELOAD=/evil.so", "PYTHONPATH=/evil", "UV_PYTHON=/evil", "PIP_PYTHON=/evil",
        "HOME=/evil", "LANG", "=x", "PIP_INDEX_URL=https://own/simple", "LC_ALL=C.UTF-8"})
    request.add_environment(line);
  const auto started = AsSupervisor(std::move(request), kProgram, {"PATH=/usr/bin", "LC_ALL=C"});
  ASSERT_TRUE(started);
  EXPECT_THAT(started->environment(),
              ElementsAre("PATH=/usr/bin", "PIP_INDEX_URL=https://own/simple", "LC_ALL=C.UTF-8"));
}

}  // namespace
}  // namespace trainyard::keeper
