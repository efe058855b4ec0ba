// Random tile-level kernels of which all, or what stands behind a random operation, becomes a tile operation: inlined, they are the
// kernel that they were; called, they compute the same, as recorded and lowered.
#include <iostream>

#include "support/random_pipeline.hpp"
#include "support/random_tile_program.hpp"
#include "tessera/dsl/tileop_call.hpp"
#include "tessera/emit/pto_cpp.hpp"
#include "tessera/emit/pto_mlir.hpp"
#include "tessera/passes/inline_tileops.hpp"
#include "tessera/passes/pipeline.hpp"
#include "tessera/simulate/run_both.hpp"

namespace {

using namespace tessera;
using namespace tessera::test;

/// Values that operations of the body from `first` on use, and that are defined in front of it or are parameters.
class LiveIns {
 public:
  LiveIns(const Function& f, OpId first) : f_(f), inside_(f.value_count()) {
    for (OpId o = first; o; o = f.next(o)) note(o);
  }
  [[nodiscard]] const std::vector<ValueId>& values() const { return values_; }

 private:
  void note(OpId op) {
    for (int i = 0; i < f_.operand_count(op); ++i) use(f_.operand(op, i));
    for (int b = 0; b < f_.block_count(op); ++b) {
      for (const ValueId v : f_[f_.block(op, b)].arguments) inside_[v.index] = true;
      for (OpId o = f_[f_.block(op, b)].first; o; o = f_.next(o)) note(o);
    }
    for (int i = 0; i < f_.result_count(op); ++i) inside_[f_.result(op, i).index] = true;
  }
  void use(ValueId v) {
    if (f_[v].kind > ValueKind::argument || inside_[v.index]) return;
    if (std::find(values_.begin(), values_.end(), v) == values_.end()) values_.push_back(v);
  }

  const Function& f_;
  std::vector<bool> inside_;
  std::vector<ValueId> values_;
};

Direction direction_of(const Function& f, ValueId v) {
  for (const Parameter& p : f.parameters)
    if (p.value == v) return p.direction;
  return Direction::in;
}

/// `f` with a call in place of its operations from `first` on. Tensors that are no parameters are not taken: none.
std::optional<Function> outlined(const Function& f, OpId first) {
  const LiveIns live(f, first);
  auto tileop = std::make_shared<Function>();
  Function made;
  Rewriter body(f, *tileop), rest(f, made);
  tileop->name = "rest";
  tileop->kind = FunctionKind::tileop;
  rest.copy_parameters();
  for (const ValueId v : live.values()) {
    if (f.type(v).is_tensor() && f[v].kind != ValueKind::argument) return {};
    const ValueId p = tileop->add_argument(tileop->body(), f.type(v));
    tileop->parameters.push_back({p, Text("p").append(static_cast<std::int64_t>(tileop->parameters.size())), direction_of(f, v), {}});
    body.alias(v, p);
  }
  for (const ValueId v : f.symbols()) tileop->symbol(f[v].integer);
  const auto copy = [&](Rewriter& r, OpId op) {
    const auto visit = [&](OpId o, const auto& self) -> void {
      r.build().at(f[o].location);
      r.copy(o, [&](OpId inner) { self(inner, self); });
    };
    visit(op, visit);
  };
  for (OpId o = f[f.body()].first; o != first; o = f.next(o)) copy(rest, o);
  for (OpId o = first; o; o = f.next(o)) copy(body, o);
  std::vector<ValueId> arguments;
  for (const ValueId v : live.values()) arguments.push_back(rest.map(v));
  rest.build().to_end_of(made.body());
  const Pool<ValueId> results = detail::TileopCall(made, rest.build(), tileop, {"call.cpp", 1, 1}).record(arguments);
  rest.build().control(ops::return_op, results, {}, 0);
  return made;
}

/// The called form on both targets: verified behind every pass, with flags that are proven, it computes what was recorded. A pass
/// may refuse a program.
void require_called(RandomTileProgram& p, const Function& user, const RandomProgram::Run& expected, const SimulationResult& meaning, int& done) {
  for (const Arch arch : {Arch::a3, Arch::a5}) {
    Function lowered;
    PassOptions options;
    options.verify = true;
    try {
      lowered = run_passes(user, full_pipeline(), {arch, true, TileopForm::called}, options);
      static_cast<void>(emit_pto_cpp(lowered, {.arch = arch}));
      static_cast<void>(emit_pto_mlir(lowered, {.arch = arch, .level = 3}));
    } catch (const UserError& e) {
      if (e.diagnostic().hint.empty()) throw;
    }
    if (!has_addresses(lowered)) continue;
    require_same_run(p, expected, meaning, lowered);
    ++done;
  }
}
/// Empty, or what is wrong.
std::string fault_of(RandomTileProgram& p, std::uint64_t seed, int& done, int& called) {
  const Function& f = p.k.f();
  Function without_unused = f;
  tessera::detail::erase_unused_numbers(without_unused);
  const std::string wanted = print(without_unused);
  std::vector<OpId> places;
  for (OpId o = f[f.body()].first; o; o = f.next(o)) places.push_back(o);
  for (const std::size_t at : {std::size_t{0}, static_cast<std::size_t>(seed * 7919 % places.size())}) {
    std::optional<Function> user;
    try {
      user = outlined(f, places[at]);
    } catch (const UserError&) { continue; }  // a body that wants to know that its argument is valid in part
    if (!user) continue;
    try {
      verify(*user);
      const Function inlined = inline_tileops.run(*user, {});
      verify(inlined);
      if (print(inlined) != wanted) return "inlined:\n" + print(inlined) + "called:\n" + print(*user);
      const RandomProgram::Run expected = p.run();
      const SimulationResult meaning = simulate(f, expected.arguments, expected.options);
      require_same_run(p, expected, meaning, *user);
      require_called(p, *user, expected, meaning, called);
    } catch (const std::exception& e) { return std::string(e.what()) + "\ncalled:\n" + print(*user); }
    ++done;
  }
  return {};
}

}  // namespace

TEST_CASE("the body of a tile operation in place of its call is what was written there") {
  const int count = TESSERA_LONG_TESTS ? 3000 : 150;
  const char* const only = std::getenv("TESSERA_SEED");
  int done = 0, called = 0, faults = 0;
  for (int i = 1; i <= count && faults < 3; ++i) {
    const auto seed = only != nullptr ? std::strtoull(only, nullptr, 10) : static_cast<std::uint64_t>(i);
    RandomTileProgram p(seed, 40);
    const std::string fault = fault_of(p, seed, done, called);
    if (!fault.empty()) {
      ++faults;
      std::cout << "TESSERA_SEED=" << seed << ": " << fault << "\nrecorded:\n" << print(p.k.f()) << "\n";
    }
    if (only != nullptr) break;
  }
  std::cout << done << " of " << 2 * count << " calls; lowered as calls: " << called << " of " << 2 * done << "\n";
  CHECK(faults == 0);
  if (only == nullptr) {
    CHECK(done > count);
    CHECK(2 * called > done);
  }
}
