#pragma once

#include <functional>
#include <string>

#include "rules/iam/method_table.h"
#include "rules/iam/resource.h"

namespace trainyard::access {

/// One decision, as the audit log keeps it.
struct AuditLine {
  iam::AuditKind kind = iam::AuditKind::kNone;
  std::string principal;    ///< empty: nobody that is known
  std::string credential;   ///< iam::Login
  std::string address;      ///< of the client, without its port; "local": a Unix socket
  std::string agent;        ///< its User-Agent
  std::string method_name;  ///< iam::MethodRule; the route where it has none
  std::string permission;
  iam::Resource resource;
  bool is_granted = false;
  int status = 0;  ///< HTTP, of the answer
};

/// Takes lines; null: nothing is kept.
using AuditSink = std::function<void(AuditLine line)>;

}  // namespace trainyard::access
