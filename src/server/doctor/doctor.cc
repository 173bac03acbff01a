#include "server/doctor/doctor.h"

#include <cstdio>
#include <string>

#include "base/async/diagnostics.h"
#include "base/wire/json.h"
#include "server/doctor/doctor_probes.h"
#include "server/doctor/doctor_rules.h"

namespace trainyard::server {

int ReportMachine(int argc, char** argv) {
  SetDiagnosticLevel(DiagnosticLevel::kError);  // what the rows say is enough
  const auto argument = [&](int index) { return argc > index ? std::string(argv[index]) : std::string(); };
  const DoctorFacts facts =
      LookAtMachine({.data_dir = argument(1), .server_url = argument(2), .limits_lacking = argument(3)});
  const std::string text = wire::PrintJson(JudgeMachine(facts));
  return std::fputs(text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0 ? 0 : 1;
}

}  // namespace trainyard::server
