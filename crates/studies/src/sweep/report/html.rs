//! A page that people can open, sort and filter. It needs no network.

use super::picture::escaped;
use lockwright_sheets::Report;
use std::fmt::Write;

const STYLE: &str = "\
body{font:15px/1.45 sans-serif;margin:2em auto;max-width:72em;padding:0 1em;color:#222}\
table{border-collapse:collapse;font-variant-numeric:tabular-nums}\
th,td{padding:.25em .7em;border-bottom:1px solid #ddd;text-align:right}\
th{cursor:pointer;background:#f3f3f3;position:sticky;top:0}\
th[aria-sort=ascending]::after{content:' \\25b2'}th[aria-sort=descending]::after{content:' \\25bc'}\
input{font:inherit;padding:.3em;margin:.5em 0;width:20em}pre{overflow-x:auto;background:#f8f8f8;padding:1em}\
svg{max-width:100%;height:auto}";

/// Sorts by the column that is clicked, and hides the rows that lack a word of the filter.
const SCRIPT: &str = "\
const table=document.querySelector('table'),body=table.tBodies[0],shown=document.querySelector('#shown');\
const filter=document.querySelector('input');\
const number=t=>t.trim()!==''&&!isNaN(t);\
function sort(column){const head=table.tHead.rows[0].cells,up=head[column].getAttribute('aria-sort')!=='ascending';\
for(const cell of head)cell.removeAttribute('aria-sort');\
head[column].setAttribute('aria-sort',up?'ascending':'descending');\
const rows=[...body.rows];rows.sort((a,b)=>{const[x,y]=[a,b].map(r=>r.cells[column].textContent);\
const order=number(x)&&number(y)?x-y:x.localeCompare(y);return up?order:-order});body.append(...rows)}\
[...table.tHead.rows[0].cells].forEach((cell,column)=>cell.onclick=()=>sort(column));\
filter.oninput=()=>{const words=filter.value.toLowerCase().split(/\\s+/);let count=0;\
for(const row of body.rows){const text=[...row.cells].map((c,i)=>table.tHead.rows[0].cells[i].textContent+'='+\
c.textContent).join(' ').toLowerCase();row.hidden=!words.every(word=>text.includes(word));count+=!row.hidden}\
shown.textContent=count};filter.oninput();";

/// A page with the report on the question `asks`, its pictures, and a table of its numbers.
pub fn page(asks: &str, report: &dyn Report, pictures: &[String]) -> String {
    let grid = report.grid();
    let mut html = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>{0}</title>\n\
         <style>{STYLE}</style>\n</head>\n<body>\n<h1>{0}</h1>\n<pre>{1}</pre>\n",
        escaped(asks),
        escaped(&report.text()),
    );
    for picture in pictures {
        html += picture;
    }
    html += "<h2>All numbers</h2>\n\
             <p>Click a column to sort by it. Words in the filter, such as <code>threads=8</code>, select rows: \
             <input placeholder=\"filter\" aria-label=\"filter\"> <span id=\"shown\"></span> rows</p>\n\
             <table>\n<thead><tr>";
    for name in &grid.header {
        let _ = write!(html, "<th>{}</th>", escaped(name));
    }
    html += "</tr></thead>\n<tbody>\n";
    for row in &grid.rows {
        let cells: String = row.iter().map(|cell| format!("<td>{}</td>", escaped(cell))).collect();
        let _ = writeln!(html, "<tr>{cells}</tr>");
    }
    let _ = write!(html, "</tbody>\n</table>\n<script>{SCRIPT}</script>\n</body>\n</html>\n");
    html
}
