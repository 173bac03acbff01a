#include "cli/gcloud/flag_values.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdint>

#include "base/ascii.h"
#include "base/text/suggestion.h"
#include "rules/cluster/scale_tier.h"

namespace trainyard::cli {
namespace {

constexpr std::array<std::string_view, 6> kScaleTiers{"basic",  "basic-gpu", "basic-tpu",
                                                      "custom", "premium-1", "standard-1"};
constexpr auto kAccelerators = std::to_array<std::string_view>({"nvidia-a100-80gb",
                                                                "nvidia-b200",
                                                                "nvidia-gb200",
                                                                "nvidia-h100-80gb",
                                                                "nvidia-h100-mega-80gb",
                                                                "nvidia-h200-141gb",
                                                                "nvidia-l4",
                                                                "nvidia-rtx-pro-6000",
                                                                "nvidia-tesla-a100",
                                                                "nvidia-tesla-k80",
                                                                "nvidia-tesla-p100",
                                                                "nvidia-tesla-p4",
                                                                "nvidia-tesla-t4",
                                                                "nvidia-tesla-v100",
                                                                "tpu-v2",
                                                                "tpu-v2-pod",
                                                                "tpu-v3",
                                                                "tpu-v3-pod",
                                                                "tpu-v4-pod",
                                                                "tpu-v5-litepod"});
constexpr std::size_t kLabelMax = 63;

std::unexpected<Error> Wrong(std::string message) {
  return std::unexpected(InvalidArgument("", std::move(message)));
}

template <std::size_t N>
std::string Join(const std::array<std::string_view, N>& words) {
  std::string out;
  for (std::string_view word : words) out += (out.empty() ? "" : ", ") + std::string(word);
  return out;
}

std::size_t Characters(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

/// gcloud lists the allowed characters here, too; the length is what is wrong.
Status CheckLabelLength(std::string_view what, std::string_view text) {
  constexpr std::size_t kShownMax = 20;
  const std::size_t characters = Characters(text);
  if (characters <= kLabelMax) return {};
  std::size_t shown = kShownMax;
  while ((static_cast<unsigned char>(text[shown]) & 0xc0) == 0x80) --shown;
  return Wrong("Bad value [" + std::string(text.substr(0, shown)) + "...]: Label " + std::string(what) +
               " must not exceed 63 characters; this one has " + std::to_string(characters) + ".");
}

/// Characters of other scripts are accepted: the server checks them.
bool IsLabelText(std::string_view text) {
  for (char c : text) {
    bool good = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || (c & 0x80) != 0;
    if (!good) return false;
  }
  return true;
}

bool IsLabelKey(std::string_view text) {
  return !text.empty() && ((text[0] >= 'a' && text[0] <= 'z') || (text[0] & 0x80) != 0) && IsLabelText(text);
}

Status CheckCount(std::string_view text) {
  const std::optional<std::int64_t> count = ParseNumber(text);
  if (!count) return Wrong("Value must be an integer; received: " + std::string(text));
  if (*count <= 0) return Wrong("The count of the accelerator must be greater than 0.");
  return {};
}

}  // namespace

Result<std::vector<std::string>> SplitList(std::string_view value) {
  std::string_view separator = ",";
  if (value.starts_with('^') && value.find('^', 1) != std::string_view::npos) {
    std::size_t end = value.find('^', 1);
    separator = value.substr(1, end - 1);
    value.remove_prefix(end + 1);
    if (separator.empty()) return Wrong("Invalid delimeter. Separate the values as in ^:^a:b");
  }
  std::vector<std::string> parts;
  while (!value.empty()) {
    std::size_t end = value.find(separator);
    parts.emplace_back(value.substr(0, end));
    if (end == std::string_view::npos) break;
    value.remove_prefix(end + separator.size());
    if (value.empty()) parts.emplace_back();
  }
  return parts;
}

Result<std::vector<std::pair<std::string, std::string>>> SplitPairs(std::string_view value) {
  TY_TRY(std::vector<std::string> parts, SplitList(value));
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const std::string& part : parts) {
    std::size_t equals = part.find('=');
    if (equals == std::string::npos)
      return Wrong("Bad syntax for dict arg: [" + part + "]. " +
                   (part.empty()
                        ? "There is nothing next to a comma: write KEY=VALUE,KEY=VALUE without spaces."
                        : "It must be KEY=VALUE,KEY=VALUE,... without spaces."));
    pairs.emplace_back(part.substr(0, equals), part.substr(equals + 1));
  }
  return pairs;
}

Status CheckList(std::string_view value) {
  TY_TRY([[maybe_unused]] auto parts, SplitList(value));
  return {};
}

Status CheckPositiveInteger(std::string_view value) {
  if (value == "unlimited") return {};
  const std::optional<std::int64_t> number = ParseNumber(value);
  if (!number) return Wrong("Value must be an integer; received: " + std::string(value));
  if (*number < 1) return Wrong("Value must be greater than or equal to 1; received: " + std::string(value));
  return {};
}

Status CheckReplicaCount(std::string_view value) {
  constexpr int kCountMax = 65535;
  const std::optional<std::int64_t> number = ParseNumber(value);
  if (!number) return Wrong("invalid int value: '" + std::string(value) + "'");
  if (*number < 0 || *number > kCountMax)
    return Wrong("Value must be from 0 to " + std::to_string(kCountMax) +
                 "; received: " + std::string(value));
  return {};
}

Status CheckGpuCount(std::string_view value) {
  if (value == "1" || value == "2" || value == "4" || value == "8") return {};
  return Wrong("Value must be 1, 2, 4 or 8; received: " + std::string(value));
}

Status CheckWorkerCount(std::string_view value) {
  constexpr std::int64_t kWorkersMax = cluster::kReplicasMax - 1;
  const std::optional<std::int64_t> number = ParseNumber(value);
  if (number && *number >= 1 && *number <= kWorkersMax) return {};
  return Wrong("Value must be from 1 to " + std::to_string(kWorkersMax) +
               "; received: " + std::string(value));
}

std::optional<std::int64_t> ParseNumber(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

std::optional<std::chrono::seconds> ParseDuration(std::string_view text) {
  constexpr std::int64_t kSecondsMax = std::int64_t{100} * 366 * 24 * 3'600;
  static constexpr std::pair<char, std::int64_t> kUnits[] = {
      {'s', 1}, {'m', 60}, {'h', 3'600}, {'d', 86'400}};
  const auto* unit =
      std::ranges::find(kUnits, text.empty() ? '\0' : text.back(), &std::pair<char, std::int64_t>::first);
  if (unit == std::end(kUnits)) return std::nullopt;
  const std::optional<std::int64_t> number = ParseNumber(text.substr(0, text.size() - 1));
  if (!number || *number <= 0 || *number > kSecondsMax / unit->second) return std::nullopt;
  return std::chrono::seconds(*number * unit->second);
}

Status CheckAge(std::string_view text) {
  if (ParseDuration(text)) return {};
  return Wrong("'" + std::string(text) + "' is not an age, as 90s, 30m, 12h or 7d");
}

Status CheckBoolean(std::string_view value) {
  std::string lower = ToLower(value);
  if (lower == "true" || lower == "yes" || lower == "false" || lower == "no") return {};
  return Wrong("Invalid flag value [" + std::string(value) + "], expected one of [true, yes, false, no]");
}

bool IsTrue(std::string_view boolean) { return ToLower(boolean) == "true" || ToLower(boolean) == "yes"; }

Status CheckLabels(std::string_view value) {
  static constexpr std::string_view kRule =
      "Only hyphens (-), underscores (_), lowercase characters, and numbers are allowed. ";
  TY_TRY(auto pairs, SplitPairs(value));
  for (const auto& [key, text] : pairs) {
    TY_RETURN_IF_ERROR(CheckLabelLength("keys", key));
    TY_RETURN_IF_ERROR(CheckLabelLength("values", text));
    if (!IsLabelKey(key))
      return Wrong("Bad value [" + key + "]: " + std::string(kRule) +
                   "Keys must start with a lowercase character. International characters are allowed. Key "
                   "length must not "
                   "exceed 63 characters.");
    if (!IsLabelText(text))
      return Wrong("Bad value [" + text + "]: " + std::string(kRule) +
                   "International characters are allowed.");
  }
  return {};
}

Status CheckServiceAccount(std::string_view value) {
  std::size_t at = value.find('@');
  bool digits = !value.empty() && value.find_first_not_of("0123456789") == std::string_view::npos;
  bool email = at != std::string_view::npos && at > 0 && value.find('.', at) != std::string_view::npos &&
               value.find(' ') == std::string_view::npos;
  if (digits || email) return {};
  return Wrong("Bad value [" + std::string(value) +
               "]: Not a valid service account identifier. It should be either a numeric string representing "
               "the unique_id "
               "or an email of the form: my-iam-account@somedomain.com or "
               "my-iam-account@PROJECT_ID.iam.gserviceaccount.com");
}

Status CheckScaleTier(std::string_view value) {
  std::string lower = ToLower(value);
  std::ranges::replace(lower, '_', '-');
  if (std::ranges::find(kScaleTiers, lower) != kScaleTiers.end()) return {};
  std::string_view meant = text::Suggest(lower, kScaleTiers);
  std::string message = "Invalid choice: '" + std::string(value) + "'.";
  if (!meant.empty()) return Wrong(message + " Did you mean '" + std::string(meant) + "'?");
  return Wrong(message + "\n\nValid choices are [" + Join(kScaleTiers) + "].");
}

Status CheckAccelerator(std::string_view value) {
  TY_TRY(auto pairs, SplitPairs(value));
  bool has_type = false;
  bool has_count = false;
  for (const auto& [key, text] : pairs) {
    if (key == "type") {
      has_type = true;
      if (std::ranges::find(kAccelerators, text) == kAccelerators.end())
        return Wrong("Invalid accelerator: " + text + ". Valid choices are: [" + Join(kAccelerators) + "].");
    } else if (key == "count") {
      has_count = true;
      TY_RETURN_IF_ERROR(CheckCount(text));
    } else {
      return Wrong("valid keys are [count, type]; received: " + key);
    }
  }
  if (!has_type) return Wrong("Key [type] required in dict arg but not provided");
  if (!has_count) return Wrong("Key [count] required in dict arg but not provided");
  return {};
}

Status CheckBucketName(std::string_view bucket) {
  static constexpr std::string_view kLink =
      "\n\nSee https://cloud.google.com/storage/docs/naming#requirements for details.";
  auto wrong = [bucket](std::string_view rule) {
    return Wrong("Invalid bucket name [" + std::string(bucket) + "]: Bucket names must " + std::string(rule) +
                 std::string(kLink));
  };
  std::size_t part = 0;
  std::size_t longest = 0;
  std::size_t parts = 1;
  for (char c : bucket) {
    part = c == '.' ? 0 : part + 1;
    parts += c == '.' ? 1U : 0U;
    longest = std::max(longest, part);
  }
  if (bucket.size() < 3 || bucket.size() > 222 || longest > kLabelMax)
    return wrong(
        "contain 3 to 63 characters. Names containing dots can contain up to 222 characters, but each "
        "dot-separated component can be no longer than 63 characters.");
  static constexpr std::string_view kAlphanumeric = "abcdefghijklmnopqrstuvwxyz0123456789";
  if (bucket.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-_.") != std::string_view::npos)
    return wrong("contain only lowercase letters, numbers, dashes (-), underscores (_), and dots (.).");
  if (kAlphanumeric.find(bucket.front()) == std::string_view::npos ||
      kAlphanumeric.find(bucket.back()) == std::string_view::npos)
    return wrong("start and end with a number or letter.");
  if (parts == 4 && bucket.find_first_not_of("0123456789.") == std::string_view::npos)
    return Wrong(
        "Invalid bucket name [" + std::string(bucket) +
        "]: Bucket names cannot be represented as an IP address in dotted-decimal notation (for example, "
        "192.168.5.4)." +
        std::string(kLink));
  return {};
}

Status CheckJobDir(std::string_view value) {
  if (!value.starts_with("gs://") || value.size() == 5 || value[5] == '/')
    return Wrong("Must be of form gs://bucket/object");
  std::size_t slash = value.find('/', 5);
  if (slash == std::string_view::npos || slash + 1 == value.size())
    return {};  // a bucket alone is not checked
  TY_RETURN_IF_ERROR(CheckBucketName(value.substr(5, slash - 5)));
  std::string_view object = value.substr(slash + 1);
  std::string_view rule =
      object.size() > 1024
          ? "Object names can contain any sequence of valid Unicode characters, of length 1-1024 bytes "
            "when UTF-8 encoded."
      : object.find_first_of("\r\n") != std::string_view::npos
          ? "Object names must not contain Carriage Return or Line Feed characters."
          : std::string_view();
  if (!rule.empty())
    return Wrong("Invalid object name [" + std::string(object) + "]: " + std::string(rule) +
                 "\n\nSee https://cloud.google.com/storage/docs/naming#objectnames for details.");
  return {};
}

Status CheckStagingBucket(std::string_view value) {
  if (!value.starts_with("gs://"))
    return Wrong("Must be a valid Google Cloud Storage bucket of the form [gs://somebucket]");
  value.remove_prefix(5);
  while (value.ends_with('/')) value.remove_suffix(1);
  return CheckBucketName(value);
}

std::string EnumName(std::string_view choice) {
  std::string out;
  for (char c : choice)
    out += c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return out;
}

}  // namespace trainyard::cli
