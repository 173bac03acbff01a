#pragma once

namespace trainyard {

/// `std::visit(Overloaded{[](const A&) {...}, [](const B&) {...}}, sum)`: an exhaustive visit of a variant.
template <class... Fs>
struct Overloaded : Fs... {
  using Fs::operator()...;
};

}  // namespace trainyard
