#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <utility>

#include "net/http/message.h"

namespace trainyard::http {

/// A request's body that is there already. Loop thread only.
class TextBody final : public BodyReader {
 public:
  explicit TextBody(std::string text) : text_(std::move(text)) {}
  asio::awaitable<Result<std::size_t>> ReadSome(std::span<std::byte> buffer) override {
    const std::size_t length = std::min(buffer.size(), text_.size() - taken_);
    std::memcpy(buffer.data(), text_.data() + taken_, length);
    taken_ += length;
    co_return length;
  }

 private:
  std::string text_;
  std::size_t taken_ = 0;
};

}  // namespace trainyard::http
