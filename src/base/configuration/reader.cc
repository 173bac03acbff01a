#include "base/configuration/reader.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "base/ascii.h"
#include "base/text/suggestion.h"
#include "base/wire/utf8.h"
#include "base/wire/yaml.h"

namespace trainyard::configuration {
namespace {

int LineOf(const YAML::Node& node) { return node.Mark().line + 1; }

/// YAML 1.1's booleans.
std::optional<bool> AsBoolean(const std::string& text) {
  const std::string word = ToLower(text);
  if (word == "true" || word == "yes" || word == "on") return true;
  if (word == "false" || word == "no" || word == "off") return false;
  return std::nullopt;
}

/// YAML does not define a tab there; yaml-cpp may join such a line with the previous one.
bool IsTabbed(std::string_view row) {
  const std::string_view content = TrimSpace(row);
  return !content.empty() && content.front() != '#' &&
         row.substr(0, row.find(content.front())).contains('\t');
}

/// yaml-cpp treats some of these as the end of the text, and replaces others.
std::optional<Mistake> FindUnreadable(std::string_view text) {
  if (text.size() > kFileBytesMax)
    return Mistake{.reason = "the file has more than " + std::to_string(kFileBytesMax >> 20) + " MiB"};
  int line = 1;
  while (!text.empty()) {
    const std::string_view row = text.substr(0, text.find('\n'));
    if (!wire::IsUtf8(row)) return Mistake{.line = line, .reason = "the line is not UTF-8"};
    const bool has_control = std::ranges::any_of(
        row, [](char c) { return (c >= 0 && c < ' ' && c != '\t' && c != '\r') || c == '\x7f'; });
    if (IsTabbed(row)) return Mistake{.line = line, .reason = "the line is indented with a tab: use spaces"};
    if (has_control) return Mistake{.line = line, .reason = "the line has a control character"};
    text.remove_prefix(std::min(row.size() + 1, text.size()));
    ++line;
  }
  return std::nullopt;
}

bool IsOneLine(const std::string& text) {
  return text.size() <= kTextBytesMax && !text.contains('\n') && !FindUnreadable(text);
}

bool IsName(const YAML::Node& key) {
  return key.IsScalar() && IsOneLine(key.Scalar()) && !key.Scalar().contains('=');
}

/// Reads the value of one key.
class SettingReader {
 public:
  SettingReader(const Key& key, int line, std::vector<Mistake>& mistakes)
      : key_(key), mistakes_(mistakes), setting_{.key = key.name, .line = line} {}

  /// Nullopt if there was a mistake.
  std::optional<Setting> Take(const YAML::Node& node) {
    const std::size_t known = mistakes_.size();
    if (node.IsScalar() || node.IsNull() || !node.IsDefined()) {
      TakeScalar(node, "", setting_.line);
    } else if (key_.kind != Key::Kind::kList && !key_.joins()) {
      Refuse(LineOf(node), std::string(Expected()) + ", not " + (node.IsMap() ? "a mapping" : "a list"));
    } else {
      TakeMany(node);
    }
    if (key_.joins() && mistakes_.size() == known) Join();
    if (mistakes_.size() > known) return std::nullopt;
    return std::move(setting_);
  }

 private:
  void Refuse(int line, std::string reason) {
    mistakes_.push_back(
        {.line = std::max(line, setting_.line), .key = key_.name, .reason = std::move(reason)});
  }

  [[nodiscard]] std::string Expected() const {
    if (key_.kind == Key::Kind::kSwitch) return "must be true or false";
    return std::string(key_.kind == Key::Kind::kList ? "each entry" : "it") + " must be one value, " +
           key_.metavar;
  }

  void TakeMany(const YAML::Node& node) {
    if (node.size() > kValuesMax)
      return Refuse(LineOf(node), "has more than " + std::to_string(kValuesMax) + " values");
    if (node.IsMap()) return TakePairs(node);
    for (const YAML::Node& entry : node) {
      if (entry.IsMap())
        TakePairs(entry);
      else
        TakeScalar(entry, "", setting_.line);
    }
  }

  void TakePairs(const YAML::Node& node) {
    if (!key_.takes_pairs()) return Refuse(LineOf(node), Expected() + ", not a mapping" + HintOfColon());
    std::map<std::string, int> lines;
    for (const auto& pair : node) {
      const int line = LineOf(pair.first);
      if (!IsName(pair.first)) {
        Refuse(line, "the text before the colon must be a name without '='");
        continue;
      }
      const std::string& name = pair.first.Scalar();
      if (const auto [known, is_new] = lines.emplace(name, line); !is_new)
        Refuse(line, "'" + name + "' is given twice: here and in line " + std::to_string(known->second));
      else
        TakeScalar(pair.second, name + "=", line);
    }
  }

  /// "a: b" in a list is a mapping, which is rarely meant.
  [[nodiscard]] static std::string HintOfColon() {
    return "; quote a text that contains a colon and a space";
  }

  /// `around`: the line of the parent, because an empty value has no position.
  void TakeScalar(const YAML::Node& node, const std::string& before, int around) {
    const int line = node.IsNull() || !node.IsDefined() ? around : LineOf(node);
    const std::string what = before.empty() ? "" : "'" + before.substr(0, before.size() - 1) + "' ";
    if (node.IsNull() || !node.IsDefined())
      return Refuse(line, what + "has no value: add one" +
                              (before.empty() && setting_.values.empty() ? ", or remove the key" : ""));
    if (!node.IsScalar())
      return Refuse(line, (what.empty() ? Expected() : what + "must be one value") + ", not " +
                              (node.IsMap() ? "a mapping" : "a list"));
    if (!IsPlainTag(node.Tag()))
      return Refuse(line, what + "has the tag " + node.Tag() + ", which is not supported");
    std::optional<std::string> text = TextOf(node.Scalar(), line);
    if (!text) return;
    if (key_.joins() && !before.empty() && text->contains(','))
      return Refuse(line, what + "must be one value, without a comma");
    setting_.values.push_back({.text = before + *std::move(text), .line = std::max(line, setting_.line)});
  }

  /// No tag, or one of YAML's own for a scalar.
  static bool IsPlainTag(const std::string& tag) {
    for (const char* known : {"", "?", "!", "tag:yaml.org,2002:str", "tag:yaml.org,2002:bool",
                              "tag:yaml.org,2002:int", "tag:yaml.org,2002:float"})
      if (tag == known) return true;
    return false;
  }

  /// The text as it would follow the flag.
  std::optional<std::string> TextOf(const std::string& scalar, int line) {
    if (!IsOneLine(scalar)) {
      Refuse(line, "must be text on one line, without control characters, of at most " +
                       std::to_string(kTextBytesMax) + " bytes");
      return std::nullopt;
    }
    const std::optional<bool> boolean = AsBoolean(scalar);
    if (key_.kind == Key::Kind::kSwitch) {
      if (boolean) return *boolean ? "true" : "false";
      Refuse(line, Expected() + ", not '" + scalar + "'");
      return std::nullopt;
    }
    if (key_.is_path() && !scalar.starts_with('/')) {
      Refuse(line, "'" + scalar + "' must be an absolute path");
      return std::nullopt;
    }
    if (key_.is_on_off() && boolean) return *boolean ? "on" : "off";
    return scalar;
  }

  /// "A=1", "B=2" become "A=1,B=2".
  void Join() {
    if (setting_.values.empty()) return Refuse(setting_.line, "is empty: remove the key");
    Value joined = setting_.values.front();
    for (std::size_t i = 1; i < setting_.values.size(); ++i) joined.text += "," + setting_.values[i].text;
    setting_.values = {std::move(joined)};
  }

  const Key& key_;
  std::vector<Mistake>& mistakes_;
  Setting setting_;
};

Mistake UnknownKey(std::string name, int line, std::span<const Key> keys) {
  if (name == "<<")
    return {.line = line, .key = name, .reason = "merge keys are not supported; write the keys out"};
  std::vector<std::string_view> names;
  for (const Key& key : keys) names.push_back(key.name);
  const std::string meant(
      text::Suggest(std::string_view(name).substr(name.starts_with("--") ? 2 : 0), names));
  std::string reason = "there is no such key. " + (meant.empty() ? "`trainyard config show` lists all"
                                                                 : "Did you mean '" + meant + "'?");
  return {.line = line, .key = std::move(name), .reason = std::move(reason)};
}

Reading ReadMapping(const YAML::Node& document, std::span<const Key> keys) {
  Reading reading;
  std::map<std::string, int> lines;
  for (const auto& member : document) {
    const int line = LineOf(member.first);
    if (reading.mistakes.size() >= kMistakesMax) {
      reading.mistakes.push_back(
          {.line = line, .reason = "the rest of the file was not read: fix these mistakes first"});
      break;
    }
    if (!IsName(member.first)) {
      reading.mistakes.push_back({.line = line, .reason = "a key must be a word"});
      continue;
    }
    const std::string& name = member.first.Scalar();
    const Key* key = FindKey(keys, name);
    if (const auto [known, is_new] = lines.emplace(name, line); !is_new)
      reading.mistakes.push_back(
          {.line = line,
           .key = name,
           .reason = "is given twice: here and in line " + std::to_string(known->second)});
    else if (key == nullptr)
      reading.mistakes.push_back(UnknownKey(name, line, keys));
    else if (auto setting = SettingReader(*key, line, reading.mistakes).Take(member.second))
      reading.settings.push_back(*std::move(setting));
  }
  return reading;
}

}  // namespace

Reading Read(std::string_view text, std::span<const Key> keys) {
  if (auto unreadable = FindUnreadable(text)) return {.mistakes = {*std::move(unreadable)}};
  const auto document = wire::LoadOnlyDocument(text);
  if (!document) return {.mistakes = {{.line = document.error().line, .reason = document.error().reason}}};
  if (document->IsNull()) return {};
  if (!document->IsMap())
    return {.mistakes = {{.line = LineOf(*document), .reason = "the file must have lines of KEY: VALUE"}}};
  return ReadMapping(*document, keys);
}

std::string Describe(const Mistake& mistake, std::string_view file) {
  std::string text(file);
  if (mistake.line > 0) text += ":" + std::to_string(mistake.line);
  if (!mistake.key.empty()) text += ": " + mistake.key;
  return text + ": " + mistake.reason;
}

}  // namespace trainyard::configuration
