#include "replica/keeper/keeper_message.h"

#include <algorithm>
#include <type_traits>

#include "base/ascii.h"

namespace trainyard::keeper {

namespace {

enum Type : std::uint16_t {
  kHello = 1,
  kLimits = 2,
  kStart = 3,
  kHelloAnswer = 129,
  kLimitsAnswer = 130,
  kStarted = 131,
  kRefused = 255,
};

class Writer {
 public:
  explicit Writer(Type type) { Number(static_cast<std::uint16_t>(type)); }
  template <class Unsigned>
  Writer& Number(Unsigned value) {
    for (std::size_t i = 0; i < sizeof(value); ++i)
      bytes_ += static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * i));
    return *this;
  }
  Writer& Text(std::string_view text) {
    Number(static_cast<std::uint32_t>(text.size()));
    bytes_ += text;
    return *this;
  }
  Writer& Texts(const std::vector<std::string>& texts) {
    Number(static_cast<std::uint32_t>(texts.size()));
    for (const std::string& text : texts) Text(text);
    return *this;
  }
  std::string Take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

/// Reads fields in order; once there is too little, all that follows is empty and `ok` is false.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}
  template <class Unsigned>
  Unsigned Number() {
    std::uint64_t value = 0;
    const std::string_view bytes = Bytes(sizeof(Unsigned));
    for (std::size_t i = 0; i < bytes.size(); ++i)
      value |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
    return static_cast<Unsigned>(value);
  }
  std::string Text() { return std::string(Bytes(Number<std::uint32_t>())); }
  /// A list's length is not believed: what is reserved is what is there.
  template <class Item>
  auto List(Item item) {
    std::vector<std::invoke_result_t<Item>> list;
    const auto count = Number<std::uint32_t>();
    for (std::uint32_t i = 0; ok_ && i < count; ++i) list.push_back(item());
    return list;
  }
  std::vector<std::string> Texts() {
    return List([this] { return Text(); });
  }
  [[nodiscard]] bool ok() const { return ok_; }

 private:
  std::string_view Bytes(std::size_t size) {
    if (size > rest_.size()) ok_ = false;
    if (!ok_) return {};
    const std::string_view bytes = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return bytes;
  }

  std::string_view rest_;
  bool ok_ = true;
};

std::unexpected<Error> NotAMessage() {
  return std::unexpected(InvalidArgument("", "this is not a message of the keeper's protocol"));
}

std::unexpected<Error> UnknownType(std::uint16_t type) {
  return std::unexpected(Error{Code::kUnimplemented,
                               "messages of type " + std::to_string(type) + " are not known here (version " +
                                   std::to_string(kVersion) + ")",
                               {}});
}

std::string Print(const Hello& hello) {
  return Writer(kHello).Number(kMagic).Number(hello.version_min).Number(hello.version_max).Take();
}

std::string Print(const LimitsRequest& limits) { return Writer(kLimits).Text(limits.installation).Take(); }

std::string Print(const StartRequest& start) {
  Writer writer(kStart);
  writer.Text(start.name).Text(start.program).Texts(start.arguments).Texts(start.environment);
  writer.Number(static_cast<std::uint32_t>(start.numbers.size()));
  for (const std::uint8_t number : start.numbers) writer.Number(number);
  return writer.Take();
}

std::string Print(const HelloAnswer& hello) {
  return Writer(kHelloAnswer).Number(hello.version).Number(hello.instance).Take();
}

std::string Print(const LimitsAnswer& limits) {
  Writer writer(kLimitsAnswer);
  writer.Number(static_cast<std::uint8_t>(limits.support.version)).Text(limits.support.group);
  writer.Number(static_cast<std::uint32_t>(limits.support.missing.size()));
  for (const replica::MissingLimit& one : limits.support.missing)
    writer.Text(one.what).Number(static_cast<std::uint8_t>(one.absent ? 1 : 0)).Text(one.why);
  return writer.Text(limits.advice).Take();
}

std::string Print(const Started& started) { return Writer(kStarted).Number(started.pid).Take(); }

std::string Print(const Refused& refused) {
  return Writer(kRefused).Number(refused.code).Text(refused.message).Take();
}

Result<Request> ReadHello(Reader& reader) {
  if (reader.Number<std::uint32_t>() != kMagic) return NotAMessage();
  Hello hello;
  hello.version_min = reader.Number<std::uint16_t>();
  hello.version_max = reader.Number<std::uint16_t>();
  return hello;
}

StartRequest ReadStart(Reader& reader) {
  StartRequest start;
  start.name = reader.Text();
  start.program = reader.Text();
  start.arguments = reader.Texts();
  start.environment = reader.Texts();
  start.numbers = reader.List([&reader] { return reader.Number<std::uint8_t>(); });
  return start;
}

LimitsAnswer ReadLimits(Reader& reader) {
  LimitsAnswer limits;
  limits.support.version = reader.Number<std::uint8_t>();
  limits.support.group = reader.Text();
  limits.support.missing = reader.List([&reader] {
    replica::MissingLimit one;
    one.what = reader.Text();
    one.absent = reader.Number<std::uint8_t>() != 0;
    one.why = reader.Text();
    return one;
  });
  limits.advice = reader.Text();
  return limits;
}

}  // namespace

std::string PrintRequest(const Request& request) {
  return std::visit([](const auto& one) { return Print(one); }, request);
}

std::string PrintAnswer(const Answer& answer) {
  return std::visit([](const auto& one) { return Print(one); }, answer);
}

Result<Request> ParseRequest(std::string_view bytes) {
  Reader reader(bytes);
  const auto type = reader.Number<std::uint16_t>();
  Result<Request> request = NotAMessage();
  if (!reader.ok()) return request;
  switch (type) {
    case kHello: request = ReadHello(reader); break;
    case kLimits: request = LimitsRequest{.installation = reader.Text()}; break;
    case kStart: request = ReadStart(reader); break;
    default: return UnknownType(type);
  }
  if (!reader.ok()) return NotAMessage();
  return request;
}

Result<Answer> ParseAnswer(std::string_view bytes) {
  Reader reader(bytes);
  const auto type = reader.Number<std::uint16_t>();
  Answer answer;
  switch (type) {
    case kHelloAnswer: {
      const auto version = reader.Number<std::uint16_t>();
      answer = HelloAnswer{.version = version, .instance = reader.Number<std::uint64_t>()};
      break;
    }
    case kLimitsAnswer: answer = ReadLimits(reader); break;
    case kStarted: answer = Started{.pid = reader.Number<std::uint32_t>()}; break;
    case kRefused: {
      const auto code = reader.Number<std::uint32_t>();
      answer = Refused{.code = code, .message = reader.Text()};
      break;
    }
    default:
      if (reader.ok()) return UnknownType(type);
  }
  if (!reader.ok()) return NotAMessage();
  return answer;
}

bool IsGroupName(std::string_view name) {
  constexpr std::size_t kNameMax = 200;
  const auto allowed = [](char one) {
    const char letter = ToLower(one);
    return (letter >= 'a' && letter <= 'z') || (one >= '0' && one <= '9') || one == '.' || one == '_' ||
           one == '-';
  };
  return !name.empty() && name.size() <= kNameMax && name.front() != '.' &&
         std::ranges::all_of(name, allowed);
}

}  // namespace trainyard::keeper
