// A configuration file: each setting is a key that there is, once, with its lines; each mistake has a reason;
// and what was read is read as the same once it is printed.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "base/configuration/effective_file.h"
#include "base/configuration/reader.h"

namespace {

using namespace trainyard::configuration;

const std::vector<Key>& Keys() {
  static const std::vector<Key> kKeys{
      {.name = "a", .flag = "--a", .kind = Key::Kind::kList, .metavar = "NAME=PATH"},
      {.name = "b", .flag = "--b", .metavar = "TYPE=N,..."},
      {.name = "c", .flag = "--no-c", .kind = Key::Kind::kSwitch, .turns_off = true},
      {.name = "d", .flag = "--d", .metavar = "HOST:PORT"},
      {.name = "e", .flag = "--e", .metavar = "on|off"},
      {.name = "f", .flag = "--f", .metavar = "DIR"}};
  return kKeys;
}

void CheckPrinted(const std::vector<Setting>& settings) {
  std::vector<Effective> effective;
  for (const Setting& setting : settings)
    effective.push_back({.key = *FindKey(Keys(), setting.key), .values = setting.values, .source = "file"});
  const Reading again = Read(PrintEffective(effective), Keys());
  TY_CHECK(again.mistakes.empty() && again.settings.size() == settings.size());
  for (std::size_t i = 0; i < settings.size(); ++i) {
    TY_CHECK(again.settings[i].values.size() == settings[i].values.size());
    for (std::size_t j = 0; j < settings[i].values.size(); ++j)
      TY_CHECK(again.settings[i].values[j].text == settings[i].values[j].text);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Reading reading = Read({reinterpret_cast<const char*>(data), size}, Keys());
  for (const Mistake& mistake : reading.mistakes) TY_CHECK(!mistake.reason.empty() && mistake.line >= 0);
  for (const Setting& setting : reading.settings) {
    TY_CHECK(FindKey(Keys(), setting.key) != nullptr && setting.line > 0);
    for (const Value& value : setting.values) TY_CHECK(value.line >= setting.line);
  }
  CheckPrinted(reading.settings);
  return 0;
}
