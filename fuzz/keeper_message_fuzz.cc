// Messages of the keeper's protocol: any bytes can be read, what was read prints as the same message, and
// whatever is asked for, only the keeper's own program is started, with variables that cannot name another
// one.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "replica/keeper/keeper_message.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace keeper = trainyard::keeper;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto answer = keeper::ParseAnswer(bytes)) {
    const auto support = keeper::SupportOf(answer->limits());
    TY_CHECK(keeper::SupportOf(keeper::AsAnswer(support, answer->limits().advice())) == support);
  }
  const auto request = keeper::ParseRequest(bytes);
  if (!request) return 0;
  const std::string printed = request->SerializeAsString();
  TY_CHECK(keeper::ParseRequest(printed)->SerializeAsString() == printed);
  const auto started = keeper::AsSupervisor(request->start(), "/bin/p", {"PATH=/bin"});
  if (!started) return 0;
  TY_CHECK(started->program() == "/bin/p" && started->arguments(1) == "replica");
  for (const std::string& line : started->environment())
    TY_CHECK(!line.starts_with("PATH=") || line == "PATH=/bin");
  TY_CHECK(std::ranges::none_of(started->environment(),
                                [](std::string_view line) { return line.starts_with("LD_"); }));
  return 0;
}
