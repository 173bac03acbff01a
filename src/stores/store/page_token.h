#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/sqlite/database.h"

/// Page tokens: a position in a list, sealed by HMAC-SHA256 so that only tokens that a list returned are
/// accepted. Any thread.
namespace trainyard::store {

/// Secret of one installation; stored in its database, so tokens survive a restart.
using PageTokenKey = std::array<std::uint8_t, 16>;

/// Makes a key from the 16 bytes in a database; kDataLoss for another length.
[[nodiscard]] Result<PageTokenKey> ParsePageTokenKey(std::string_view bytes);

/// The key of a database with the table page_token_key, which has one row.
[[nodiscard]] Result<PageTokenKey> ReadPageTokenKey(sqlite::Database& database);
/// Makes a new key if `trainyard admin recover` could not take the old one over: page tokens of before are
/// refused.
[[nodiscard]] Status ReplaceLostPageTokenKey(sqlite::Database& database);

/// The token for these numbers: letters, digits, '-' and '_'. `context` names the list they are positions in
/// (method, parent, filter, order): the token is valid for no other list.
[[nodiscard]] std::string SealPageToken(const PageTokenKey& key, std::string_view context,
                                        std::span<const std::int64_t> position);

/// The numbers in a token, exactly position.size() of them. kInvalidArgument with field "page_token" if the
/// text was not made by SealPageToken with this key and context.
[[nodiscard]] Status OpenPageToken(const PageTokenKey& key, std::string_view context, std::string_view token,
                                   std::span<std::int64_t> position);

}  // namespace trainyard::store
