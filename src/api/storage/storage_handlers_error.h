#pragma once

#include <string>
#include <string_view>

#include "net/http/message.h"

/// Errors that have an HTTP status but no Code, and the XML API's form of all errors. Pure: any thread.
namespace trainyard::api::storage_api {

/// An answer in storage v1's shape with a status and a reason that no Code has: 410, 416.
/// Source: Cloud Storage's page "HTTP status and error codes for JSON".
[[nodiscard]] http::Response StatusAnswer(int status, std::string_view reason, std::string_view message);

/// The XML API's error document: `<Error><Code>NoSuchKey</Code><Message>...</Message></Error>`. Control
/// characters that XML cannot contain become spaces. Source: Cloud Storage's page "HTTP status and error
/// codes for XML". @param details  empty: none.
[[nodiscard]] std::string PrintXmlError(std::string_view code, std::string_view message,
                                        std::string_view details = {});

}  // namespace trainyard::api::storage_api
