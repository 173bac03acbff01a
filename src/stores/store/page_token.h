#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/sqlite/database.h"

/// Page tokens: a position in a list, sealed by HMAC-SHA256 so that only a token which a list returned is
/// accepted. Any thread.
namespace trainyard::store {

/// Secret of one installation; kept in its database, so tokens survive a restart.
using PageTokenKey = std::array<std::uint8_t, 16>;

/// From the 16 bytes that a database keeps; kDataLoss for another length.
[[nodiscard]] Result<PageTokenKey> ParsePageTokenKey(std::string_view bytes);

/// That of a database with the table page_token_key, which has one row.
[[nodiscard]] Result<PageTokenKey> ReadPageTokenKey(sqlite::Database& database);

/// Text of letters, digits, '-' and '_' for these numbers. `context` names the list they are positions in
/// (method, parent, filter, order): the token is valid for no other list.
[[nodiscard]] std::string SealPageToken(const PageTokenKey& key, std::string_view context,
                                        std::span<const std::int64_t> position);

/// The numbers, exactly position.size() of them. kInvalidArgument with field "page_token" when the text is
/// not what SealPageToken made with this key and context.
[[nodiscard]] Status OpenPageToken(const PageTokenKey& key, std::string_view context, std::string_view token,
                                   std::span<std::int64_t> position);

}  // namespace trainyard::store
