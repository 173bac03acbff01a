#include "rules/diagnosis/pattern.h"

namespace trainyard::diagnosis {
namespace {

constexpr std::size_t kCaptureBytesMax = 200;

constexpr std::string_view kEllipsis = "...";

/// Cuts at a character, and at a word if possible.
std::string_view Cut(std::string_view text, std::size_t size) {
  while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xC0U) == 0x80U) --size;
  const std::size_t blank = text.substr(0, size).rfind(' ');
  text = text.substr(0, blank != std::string_view::npos && blank >= size / 2 ? blank : size);
  while (!text.empty() && (text.back() == ' ' || text.back() == '.' || text.back() == ','))
    text.remove_suffix(1);
  return text;
}

/// The first line, without a full stop, with a limited length. An ellipsis stays.
std::string Shorten(std::string_view text) {
  text = text.substr(0, text.find('\n'));
  while (text.ends_with(' ')) text.remove_suffix(1);
  const bool goes_on = text.ends_with(kEllipsis);
  while (text.ends_with('.') || text.ends_with(' ')) text.remove_suffix(1);
  if (text.size() > kCaptureBytesMax) return std::string(Cut(text, kCaptureBytesMax)).append(kEllipsis);
  return std::string(text).append(goes_on ? kEllipsis : "");
}

/// Whether the sentence needs no additional full stop.
bool EndsSentence(std::string_view text) {
  return text.ends_with(kEllipsis) || text.ends_with('!') || text.ends_with('?');
}

std::string Lookup(std::string_view name, const Captures& captures, std::span<const TemplateValue> values) {
  if (name.size() == 1 && name[0] >= '1' && name[0] <= '9') {
    const auto index = static_cast<std::size_t>(name[0] - '1');
    return index < captures.size() ? Shorten(captures[index]) : std::string();
  }
  for (const TemplateValue& value : values) {
    if (value.name == name) return value.text;
  }
  return {};
}

}  // namespace

std::optional<Captures> Match(std::string_view pattern, std::string_view text) {
  Captures captures;
  std::size_t star = pattern.find('*');
  std::size_t at = text.find(pattern.substr(0, star));
  if (at == std::string_view::npos) return std::nullopt;
  at += star == std::string_view::npos ? 0 : star;
  while (star != std::string_view::npos) {
    pattern.remove_prefix(star + 1);
    star = pattern.find('*');
    const std::string_view literal = pattern.substr(0, star);
    const std::size_t end = literal.empty() ? text.size() : text.find(literal, at);
    if (end == std::string_view::npos) return std::nullopt;
    captures.push_back(text.substr(at, end - at));
    at = end + literal.size();
  }
  return captures;
}

std::string Fill(std::string_view form, const Captures& captures, std::span<const TemplateValue> values) {
  std::string filled;
  while (!form.empty()) {
    const std::size_t open = form.find('{');
    const std::size_t close = open == std::string_view::npos ? open : form.find('}', open);
    if (close == std::string_view::npos) return filled.append(form);
    filled.append(form.substr(0, open));
    filled.append(Lookup(form.substr(open + 1, close - open - 1), captures, values));
    form.remove_prefix(close + 1);
    if (form.starts_with('.') && EndsSentence(filled)) form.remove_prefix(1);
  }
  return filled;
}

}  // namespace trainyard::diagnosis
