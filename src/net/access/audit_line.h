#pragma once

#include <functional>
#include <string>

#include "rules/iam/method_table.h"
#include "rules/iam/resource.h"

namespace trainyard::access {

/// One access decision, as it is written to the audit log.
struct AuditLine {
  iam::AuditKind kind = iam::AuditKind::kNone;
  std::string principal;    ///< empty: unknown
  std::string credential;   ///< iam::Login
  std::string address;      ///< the client's, without its port; "local": a Unix socket
  std::string agent;        ///< its User-Agent
  std::string method_name;  ///< iam::MethodRule; the route if the rule has no name
  std::string permission;
  iam::Resource resource;
  bool is_granted = false;
  int status = 0;  ///< the response's HTTP status
};

/// Receives the lines; null: nothing is logged.
using AuditSink = std::function<void(AuditLine line)>;

}  // namespace trainyard::access
