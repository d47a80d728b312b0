package report

// The colours of Okabe and Ito, as in the page of a report (sim/html/web/src/style.css).
const raceStyle = `
  text { font: 14px system-ui, -apple-system, "Segoe UI", "Liberation Sans", sans-serif; fill: #1b1b1b }
  .bar text, .says { paint-order: stroke; stroke: #ffffff; stroke-width: 3.5px; stroke-linejoin: round }
  .bar .above { font-size: 12px } .title { font-weight: 600; font-size: 18px } .panel { font-weight: 600; font-size: 16px } .soft { fill: #55595f } .whose { font-size: 11px; fill: #55595f }
  .bad { fill: #b23c00; font-weight: 600 } .good { fill: #00664e; font-weight: 600 }
  .paper { fill: #ffffff } .grid { stroke: #d5d8dd } .zero { stroke: #1b1b1b; stroke-width: 1.8 }
  .band { fill: #ffd8c2; fill-opacity: 0.45 } .bracket { fill: none; stroke: #b23c00; stroke-width: 2 }
  .bar rect { stroke-width: 1.2 } .ink { fill: none; stroke-width: 1.2 }
  .ready rect { fill: #d5efe4; stroke: #00765a }
  .leaving rect { fill: #fbe6bf; stroke: #8f5b00 } .ink.leaving { stroke: #8f5b00; stroke-dasharray: 1.5 4 }
  .closed rect { fill: #e4e5e8; stroke: #5f646b } .ink.closed { stroke: #5f646b; stroke-opacity: 0.55 }
  .uses rect { fill: #d6e8f6; stroke: #005a94 }
  .fallback rect { fill: #f4dfeb; stroke: #9a3d73; stroke-dasharray: 6 3 } .ink.fallback { stroke: #9a3d73; stroke-opacity: 0.5 }
  .late rect { fill: #ffd8c2; stroke: #b23c00; stroke-width: 2 } .ink.late { stroke: #b23c00; stroke-opacity: 0.5 } .late text { font-weight: 600 }
  .nobody rect { fill: #ffd8c2; stroke: #1b1b1b; stroke-width: 2; stroke-dasharray: 4 3 } .ink.nobody { stroke: #1b1b1b; stroke-opacity: 0.35 } .nobody text { font-weight: 600 }
  .gone rect { fill: none; stroke: #8c9096; stroke-dasharray: 3 4 } .gone text { fill: #55595f }
  .cross { fill: none; stroke: #b23c00; stroke-width: 2; stroke-linecap: round } .own { fill: none; stroke: #1b1b1b; stroke-width: 1.8 }
  .end { stroke: #005a94; stroke-width: 3; fill: none }
  .on { fill: #00765a }
  @media (prefers-color-scheme: dark) {
    text { fill: #ececec } .bar text, .says { stroke: #15171a } .soft, .whose, .gone text { fill: #a9afb8 } .bad { fill: #ff8a4d } .good { fill: #35c79b }
    .paper { fill: #15171a } .grid { stroke: #3a3f47 } .zero, .own { stroke: #ececec } .band { fill: #5a2410 } .bracket, .cross { stroke: #ff8a4d }
    .ready rect { fill: #103d30; stroke: #35c79b } .leaving rect { fill: #4a3509; stroke: #f0ad35 } .ink.leaving { stroke: #f0ad35 }
    .closed rect { fill: #31353b; stroke: #9aa1ab } .ink.closed { stroke: #9aa1ab } .uses rect { fill: #10354e; stroke: #62b4ee }
    .fallback rect { fill: #46203a; stroke: #e59ac6 } .ink.fallback { stroke: #e59ac6 } .late rect { fill: #5a2410; stroke: #ff8a4d } .ink.late { stroke: #ff8a4d }
    .nobody rect { fill: #5a2410; stroke: #ececec } .ink.nobody { stroke: #ececec } .gone rect { stroke: #6d737c } .end { stroke: #62b4ee } .on { fill: #35c79b }
  }
`

const racePatterns = `<defs>
<pattern id="late" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><path class="ink late" d="M0 0V7"/></pattern>
<pattern id="closed" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(-45)"><path class="ink closed" d="M0 0V6"/></pattern>
<pattern id="leaving" width="6" height="5.5" patternUnits="userSpaceOnUse"><path class="ink leaving" d="M0 2.7H6"/></pattern>
<pattern id="fallback" width="6" height="6" patternUnits="userSpaceOnUse"><path class="ink fallback" d="M0 3H6"/></pattern>
<pattern id="nobody" width="6" height="6" patternUnits="userSpaceOnUse"><path class="ink nobody" d="M0 3H6M3 0V6"/></pattern>
</defs>`
