#include "server/doctor/doctor.h"

#include <cstdio>
#include <string>

#include "base/async/diagnostics.h"
#include "base/wire/json.h"
#include "rules/service/doctor_rules.h"
#include "server/doctor/doctor_probes.h"

namespace trainyard::server {

int ReportMachine(int argc, char** argv) {
  SetDiagnosticLevel(DiagnosticLevel::kError);  // the rows of the report are enough
  const auto argument = [&](int index) { return argc > index ? std::string(argv[index]) : std::string(); };
  const service::DoctorFacts facts =
      LookAtMachine({.data_dir = argument(1), .server_url = argument(2), .limits_lacking = argument(3)});
  const std::string text = wire::PrintJson(service::JudgeMachine(facts));
  return std::fputs(text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0 ? 0 : 1;
}

}  // namespace trainyard::server
