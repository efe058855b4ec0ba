// Control flow: `for (Index i : range(0, n, 64))`, if_, while_. Bodies run once, while recording.
#pragma once

#include <exception>

#include "handles.hpp"

namespace tessera {
namespace detail {

template <class X>
concept loop_bound = (scalar_operand<X> && is_integer_or_index(type_of<value_of<X>>.dtype)) ||
                     (literal_number<X> && !recorded<X> && !is_floating_number<X>());

inline void check_pipelined(std::int64_t turns, const Location& at) {
  if (turns < 1 || turns > most_pipelined)
    fail(at, Text("range: a loop has no buffers for that many turns (").append(turns).append(")"),
         Text("pipelined(2) to pipelined(").append(std::int64_t{most_pipelined}).append("); pipelined(1) leaves the loop as it is"));
}
template <class N>
concept turn_count = std::is_convertible_v<const N&, std::int64_t> && !std::is_floating_point_v<N>;

/// A recorded counting loop. Leaving it by break, return or an exception closes it and is an error of the kernel.
class [[nodiscard]] range_loop {
 public:
  range_loop(ValueId start, ValueId stop, ValueId step, const std::source_location& at)
      : start_(start), stop_(stop), step_(step), at_(location_of(at)), recorder_(&Recorder::current(at)) {}
  /// Over the lanes of a split region.
  range_loop(Split split, const std::source_location& at)
      : attr_(int_attr(AttrKey::split, static_cast<int>(split))), has_attr_(true), at_(location_of(at)), recorder_(&Recorder::current(at)) {
    start_ = recorder_->index(0);
    stop_ = recorder_->index(2);
    step_ = recorder_->index(1);
  }
  range_loop& operator=(const range_loop&) = delete;
  ~range_loop() {
    if (open_)
      recorder_->abandon(depth_, at_, "range: the loop is left by break, return or an exception",
                         "the body is recorded once: let it run to its end, and use if_(...) or while_(...) instead",
                         std::uncaught_exceptions() > exceptions_);
  }

  struct sentinel {};
  class iterator {
   public:
    explicit iterator(range_loop& loop) : loop_(&loop) {}
    [[nodiscard]] Index operator*() const { return as<Index>(); }
    template <class I>
    [[nodiscard]] I as() const {
      return {*loop_->recorder_, loop_->counter_};
    }
    iterator& operator++() {
      loop_->open_ = false;
      loop_->recorder_->close_loop(loop_->at_);
      return *this;
    }
    [[nodiscard]] bool operator!=(sentinel) const { return loop_->open_; }

   private:
    range_loop* loop_;
  };
  [[nodiscard]] iterator begin() {
    exceptions_ = std::uncaught_exceptions();
    depth_ = recorder_->depth();
    counter_ = recorder_->open_for(start_, stop_, step_, attrs(), at_);
    open_ = true;
    return iterator(*this);
  }
  [[nodiscard]] sentinel end() const { return {}; }

  /// So many turns have buffers of their own (2 to 8), so that a turn loads while the turns before it compute and store. 1: the
  /// loop stays as it is, also where it would be given more.
  template <turn_count N>
  [[nodiscard]] range_loop pipelined(N turns, std::source_location at = std::source_location::current()) const {
    const auto count = static_cast<std::int64_t>(turns);
    check_pipelined(count, location_of(at));
    return range_loop(*this, int_attr(AttrKey::pipelined, count));
  }
  template <class N>
    requires(!turn_count<N>)
  broken::pipelined_count_is_not_an_integer<> pipelined(const N& turns) const;

 private:
  // Of a loop that is not open yet.
  range_loop(const range_loop&) = default;
  range_loop(const range_loop& loop, Attr attr) : range_loop(loop) {
    attr_ = attr;
    has_attr_ = true;
  }
  [[nodiscard]] List<Attr> attrs() const { return {&attr_, has_attr_ ? std::size_t{1} : std::size_t{0}}; }

  ValueId start_, stop_, step_, counter_;
  Attr attr_ = {};
  bool has_attr_ = false;
  Location at_;
  Recorder* recorder_;
  std::size_t depth_ = 0;
  int exceptions_ = 0;
  bool open_ = false;
};

}  // namespace detail

/// Counts from 0 to `stop`, from `start` to `stop`, or so by `step`; `stop` is exclusive, the step positive.
template <detail::loop_bound B>
auto range(B&& stop, std::source_location at = std::source_location::current()) {
  Recorder& r = Recorder::current(at);
  return detail::range_loop(r.index(0), detail::record_now<Index>(std::forward<B>(stop), at), r.index(1), at);
}
template <detail::loop_bound A, detail::loop_bound B>
auto range(A&& start, B&& stop, std::source_location at = std::source_location::current()) {
  const ValueId first = detail::record_now<Index>(std::forward<A>(start), at);
  const ValueId last = detail::record_now<Index>(std::forward<B>(stop), at);
  return detail::range_loop(first, last, Recorder::current(at).index(1), at);
}
template <detail::loop_bound A, detail::loop_bound B, detail::loop_bound C>
auto range(A&& start, B&& stop, C&& step, std::source_location at = std::source_location::current()) {
  const ValueId first = detail::record_now<Index>(std::forward<A>(start), at);
  const ValueId last = detail::record_now<Index>(std::forward<B>(stop), at);
  const ValueId by = detail::record_now<Index>(std::forward<C>(step), at);
  Recorder::current(at).check_step(by, detail::location_of(at));
  return detail::range_loop(first, last, by, at);
}
template <class... B>
  requires(sizeof...(B) >= 1 && sizeof...(B) <= 3 && !(detail::loop_bound<B> && ...) &&
           !std::is_same_v<std::remove_cvref_t<decltype((std::declval<B>(), ...))>, std::source_location>)
broken::range_bound_is_not_an_integer<> range(B&&... bounds);

namespace detail {

template <class C>
concept condition_operand = recorded<C> && type_of<value_of<C>>.dtype == boolean && type_of<value_of<C>>.is_scalar();
template <class F>
concept body = requires(std::remove_cvref_t<F>& f) { f(); };

template <class F>
concept condition_function = requires(std::remove_cvref_t<F>& f) {
  { f() } -> condition_operand;
};

// Parameters of the twins that take lambdas. Deduced, a local lambda would make g++ add that the twin is not defined.
struct anything {
  template <class T>
  anything(const T&) {}  // NOLINT: converts by design
};
struct condition_body {
  template <condition_function F>
  condition_body(const F&) {}  // NOLINT: converts by design
};
struct condition_value {
  template <class C>
    requires(!body<C>)
  condition_value(const C&) {}  // NOLINT: converts by design
};
struct no_condition_body {
  template <class F>
    requires(body<F> && !condition_function<F>)
  no_condition_body(const F&) {}  // NOLINT: converts by design
};

// Closes what an exception in a body leaves open.
template <class F>
void run_body(Recorder& r, F&& f, const Location& at, const char* what) {
  const std::size_t depth = r.depth() - 1;
  try {
    f();
  } catch (...) {
    r.abandon(depth, at, what, "let the body run to its end", true);
    throw;
  }
}
template <class C>
ValueId record_condition(C&& c, const std::source_location& at) {
  Recorder& r = Recorder::current(at);
  r.set_location(location_of(at));
  const ValueId v = record_operand(at, std::forward<C>(c));
  r.set_location(location_of(at));
  return v;
}

}  // namespace detail

/// Records both branches: `if_(i == 0, [&] { ... }, [&] { ... })`. Variables that they assign are merged behind.
template <detail::condition_operand C, detail::body Then, detail::body Else>
void if_(C&& condition, Then&& then, Else&& otherwise, std::source_location at = std::source_location::current()) {
  const Location where = detail::location_of(at);
  const ValueId c = detail::record_condition(std::forward<C>(condition), at);
  Recorder& r = Recorder::current(at);
  r.open_if(c, where);
  detail::run_body(r, then, where, "if_: the body is left by an exception");
  r.open_else(where);
  detail::run_body(r, otherwise, where, "if_: the body is left by an exception");
  r.close_if(where);
}
template <detail::condition_operand C, detail::body Then>
void if_(C&& condition, Then&& then, std::source_location at = std::source_location::current()) {
  if_(std::forward<C>(condition), then, [] {}, at);
}
template <class C>
  requires(!detail::condition_operand<C>)
broken::condition_is_not_boolean<> if_(C&& condition, detail::anything then, detail::anything otherwise = 0);
template <detail::condition_operand C>
broken::body_takes_parameters<> if_(C&& condition, detail::anything then, detail::anything otherwise = 0);

/// Repeats the body as long as the condition holds: `while_([&] { return n > 0; }, [&] { ... })`.
template <detail::condition_function Condition, detail::body Body>
void while_(Condition&& condition, Body&& body, std::source_location at = std::source_location::current()) {
  const Location where = detail::location_of(at);
  Recorder& r = Recorder::current(at);
  r.open_while(where);
  ValueId holds;
  detail::run_body(r, [&] { holds = detail::record_condition(condition(), at); }, where, "while_: the body is left by an exception");
  r.close_condition(holds, where);
  detail::run_body(r, body, where, "while_: the body is left by an exception");
  r.close_loop(where);
}
broken::while_condition_is_not_a_lambda<> while_(detail::condition_value condition, detail::anything body);
broken::condition_is_not_boolean<> while_(detail::no_condition_body condition, detail::anything body);
broken::body_takes_parameters<> while_(detail::condition_body condition, detail::anything body);

}  // namespace tessera
