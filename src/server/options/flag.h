#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/configuration/key.h"
#include "base/result.h"
#include "server/options/serve_options.h"

/// The flags of `trainyard serve` as rows: docs/adr/0065-one-row-for-a-flag.md.
namespace trainyard::server {

struct Flag;
/// The values after a flag: one, unless it takes a list. A switch has "true" or "false".
using FlagValues = std::span<const configuration::Value>;

/// How values become a part of the options.
struct FlagUse {
  configuration::Key::Kind kind = configuration::Key::Kind::kText;
  /// Reads the values. The error's field may be empty. Pure.
  Status (*read)(const Flag& flag, FlagValues values, ServeOptions& options) = nullptr;
  /// The value without the flag, for the help; null: none.
  std::string (*fallback)(const Flag& flag, const ServeOptions& defaults) = nullptr;
  bool turns_off = false;  ///< a switch that means false
  bool is_setting = true;  ///< the configuration file may have it
};

/// A flag: its one row. The key of the configuration file, the help, the manual page and completion follow.
struct Flag {
  std::string_view name;     ///< "--listen"
  std::string_view metavar;  ///< "HOST:PORT", "on|off"; empty for a switch
  std::string_view help;     ///< one or more sentences
  FlagUse use;
};

/// The rows, each group in a file of its own: who may ask, where and how jobs run, the cluster, what is kept,
/// who is told.
[[nodiscard]] std::span<const Flag> DoorFlags();
[[nodiscard]] std::span<const Flag> JobFlags();
[[nodiscard]] std::span<const Flag> EngineFlags();
[[nodiscard]] std::span<const Flag> KubernetesFlags();
[[nodiscard]] std::span<const Flag> StorageFlags();
[[nodiscard]] std::span<const Flag> NoticeFlags();

/// All flags as the help, the manual page and completion show them, sorted by flag.
[[nodiscard]] std::vector<configuration::Key> DescribeServeFlags();
/// The keys of the configuration file, sorted by name.
[[nodiscard]] std::vector<configuration::Key> ConfigurationKeys();

/// The settings that the words of a command line make, with their text as it was given; "help" and "config"
/// are among them. An error's field is the flag; empty if there is none. Pure: any thread.
[[nodiscard]] Result<std::vector<configuration::Setting>> SettingsOf(const std::vector<std::string>& words);
/// Checks the values of one key by themselves. The error's field is the flag.
[[nodiscard]] Status CheckValues(const configuration::Key& key, FlagValues values);
/// The options with these settings. Pure, except that a relative data directory depends on the working
/// directory, and its default on the environment. The error's field is the flag.
[[nodiscard]] Result<ServeOptions> OptionsWith(std::span<const configuration::Setting> settings);
/// The options by the words of a command line alone; reads no file. Empty: help was requested.
[[nodiscard]] Result<std::optional<ServeOptions>> ReadServeFlags(const std::vector<std::string>& words);

/// The position of the choice in the metavar, "on|off", in upper or lower case; the error names the nearest
/// choice, or all of them.
[[nodiscard]] Result<std::size_t> ReadChoice(std::string_view metavar, const std::string& text);
/// The number, at least `min` and at most `max`.
[[nodiscard]] Result<std::int64_t> ReadWhole(const std::string& text, std::int64_t min, std::int64_t max);
[[nodiscard]] Result<double> ReadDecimal(const std::string& text, double max);
/// Bytes: "1.5" is 1'500'000'000.
[[nodiscard]] Result<std::int64_t> ReadGigabytes(const std::string& text);
[[nodiscard]] std::string GigabytesText(std::int64_t bytes);

/// "512MiB", "2GB", "0": the inverse of placement::ParseByteCount, in the largest unit that is exact.
[[nodiscard]] std::string ByteCountText(std::int64_t bytes);

/// A member of a member: At<&ServeOptions::engine, &engine::EngineOptions::kind>.
template <auto... kPath>
struct At {
  template <class Options>
  static auto& In(Options& options) {
    return (options.*....*kPath);
  }
};

template <class Member>
inline constexpr FlagUse kText{
    .read = [](const Flag&, FlagValues values, ServeOptions& options) -> Status {
      Member::In(options) = values.back().text;
      return {};
    },
    .fallback = [](const Flag&, const ServeOptions& defaults) { return Member::In(defaults); }};

/// A path that must not depend on where the server is started; it may be empty.
template <class Member>
inline constexpr FlagUse kAbsolutePath{
    .read = [](const Flag&, FlagValues values, ServeOptions& options) -> Status {
      Member::In(options) = values.back().text;
      if (values.back().text.empty() || values.back().text.starts_with('/')) return {};
      return std::unexpected(InvalidArgument("", "'" + values.back().text + "' is not an absolute path"));
    }};

template <class Member, bool kTurnsOff = false>
inline constexpr FlagUse kSwitch{.kind = configuration::Key::Kind::kSwitch,
                                 .read = [](const Flag&, FlagValues values, ServeOptions& options) -> Status {
                                   Member::In(options) = values.back().text == "true";
                                   return {};
                                 },
                                 .turns_off = kTurnsOff};

/// One of the metavar's choices: `kChoices` are their values in the same order.
template <class Member, auto... kChoices>
inline constexpr FlagUse kChoice{
    .read = [](const Flag& flag, FlagValues values, ServeOptions& options) -> Status {
      TY_TRY(const std::size_t choice, ReadChoice(flag.metavar, values.back().text));
      Member::In(options) = std::array{kChoices...}[choice];
      return {};
    },
    .fallback =
        [](const Flag& flag, const ServeOptions& defaults) {
          std::size_t choice = 0;
          (void)((Member::In(defaults) == kChoices || (++choice, false)) || ...);
          std::string_view names = flag.metavar;
          for (; choice > 0; --choice) names.remove_prefix(names.find('|') + 1);
          return std::string(names.substr(0, names.find('|')));
        }};

/// A whole number, or a duration in the member's own unit.
template <class Member, std::int64_t kMin, std::int64_t kMax>
inline constexpr FlagUse kWhole{.read = [](const Flag&, FlagValues values, ServeOptions& options) -> Status {
                                  TY_TRY(const std::int64_t number,
                                         ReadWhole(values.back().text, kMin, kMax));
                                  auto& member = Member::In(options);
                                  member = static_cast<std::remove_cvref_t<decltype(member)>>(number);
                                  return {};
                                },
                                .fallback =
                                    [](const Flag&, const ServeOptions& defaults) {
                                      if constexpr (requires { Member::In(defaults).count(); })
                                        return std::to_string(Member::In(defaults).count());
                                      else
                                        return std::to_string(Member::In(defaults));
                                    }};

/// What `kRead` makes of the text.
template <class Member, auto kRead>
inline constexpr FlagUse kParsed{.read = [](const Flag&, FlagValues values, ServeOptions& options) -> Status {
  TY_TRY(Member::In(options), kRead(values.back().text));
  return {};
}};

/// The same, with a default that `kPrint` prints.
template <class Member, auto kRead, auto kPrint>
inline constexpr FlagUse kPrinted{
    .read = kParsed<Member, kRead>.read,
    .fallback = [](const Flag&, const ServeOptions& defaults) { return kPrint(Member::In(defaults)); }};

/// A list: `kRead` makes each element.
template <class Member, auto kRead>
inline constexpr FlagUse kEach{.kind = configuration::Key::Kind::kList,
                               .read = [](const Flag&, FlagValues values, ServeOptions& options) -> Status {
                                 for (const configuration::Value& value : values) {
                                   TY_TRY(auto element, kRead(value.text));
                                   Member::In(options).push_back(std::move(element));
                                 }
                                 return {};
                               }};

/// A list that `kRead` reads as a whole.
template <class Member, auto kRead>
inline constexpr FlagUse kAll{.kind = configuration::Key::Kind::kList,
                              .read = [](const Flag&, FlagValues values, ServeOptions& options) -> Status {
                                std::vector<std::string> texts;
                                for (const configuration::Value& value : values) texts.push_back(value.text);
                                TY_TRY(Member::In(options), kRead(texts));
                                return {};
                              }};

/// A list of rules that `kAdd` adds to a member; it refuses a second one for the same name.
template <class Member, auto kAdd>
inline constexpr FlagUse kRules{.kind = configuration::Key::Kind::kList,
                                .read = [](const Flag&, FlagValues values, ServeOptions& options) -> Status {
                                  for (const configuration::Value& value : values)
                                    TY_RETURN_IF_ERROR(kAdd(value.text, Member::In(options)));
                                  return {};
                                }};

}  // namespace trainyard::server
