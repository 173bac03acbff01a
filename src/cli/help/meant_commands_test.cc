#include "cli/help/meant_commands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iterator>
#include <sstream>

#include "cli/commands.h"

namespace trainyard::cli {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(CommandsMeantBy, GoesByMeaning) {
  EXPECT_THAT(CommandsMeantBy("kill"), ElementsAre("jobs cancel"));
  EXPECT_THAT(CommandsMeantBy("ls"), ElementsAre("jobs list", "storage ls"));
  EXPECT_THAT(CommandsMeantBy("submit"), ElementsAre("run", "jobs submit training"));
  for (const char* word : {"", " ", "kill cancel", "k", "KILL"})
    EXPECT_THAT(CommandsMeantBy(word), IsEmpty()) << word;
}

TEST(CommandsMeantBy, NamesCommandsThatExist) {
  for (const char* word : {"kill", "rm", "ls", "show", "log", "submit", "retry", "ssh", "cp", "pull", "login",
                           "board", "sweep"}) {
    for (const std::string& path : CommandsMeantBy(word)) {
      std::istringstream text(path);
      const std::vector<std::string> words{std::istream_iterator<std::string>(text), {}};
      EXPECT_NE(FindCommand(words).command, nullptr) << path;
    }
  }
}

TEST(Commands, HaveTheShortNamesThatEverybodyTries) {
  for (const char* name : {"logs", "ps", "status", "stop"}) EXPECT_NE(FindCommand({name}).command, nullptr);
}

}  // namespace
}  // namespace trainyard::cli
